package highlight

// Delimiters that several languages share.
var (
	slashes     = &delimiter{open: "//", class: Comment}
	hash        = &delimiter{open: "#", class: Comment, apart: true}
	hashes      = &delimiter{open: "#", class: Comment}
	dashes      = &delimiter{open: "--", class: Comment}
	semicolon   = &delimiter{open: ";", class: Comment, apart: true}
	percent     = &delimiter{open: "%", class: Comment}
	slashStar   = &delimiter{open: "/*", close: "*/", class: Comment, lines: true}
	nestedStar  = &delimiter{open: "/*", close: "*/", class: Comment, lines: true, nested: true}
	double      = &delimiter{open: `"`, close: `"`, class: String, escape: '\\'}
	doubleLong  = &delimiter{open: `"`, close: `"`, class: String, escape: '\\', lines: true}
	single      = &delimiter{open: `'`, close: `'`, class: String, escape: '\\'}
	singleLong  = &delimiter{open: `'`, close: `'`, class: String, escape: '\\', lines: true}
	literal     = &delimiter{open: `'`, close: `'`, class: String, lines: true}
	doubleApart = &delimiter{open: `"`, close: `"`, class: String, escape: '\\', apart: true}
	singleApart = &delimiter{open: `'`, close: `'`, class: String, apart: true}
	char        = &delimiter{open: `'`, close: `'`, class: String, escape: '\\', char: true}
	backtick    = &delimiter{open: "`", close: "`", class: String, lines: true}
	template    = &delimiter{open: "`", close: "`", class: String, escape: '\\', lines: true}
	tripled     = &delimiter{open: `"""`, close: `"""`, class: String, escape: '\\', lines: true}
	tripledOne  = &delimiter{open: `'''`, close: `'''`, class: String, escape: '\\', lines: true}
	verbatim    = &delimiter{open: `@"`, close: `"`, class: String, lines: true}
	rustRaw     = &delimiter{open: `r#"`, close: `"#`, class: String, lines: true}
	arrowed     = &delimiter{open: "<!--", close: "-->", class: Comment, lines: true}
	braceDash   = &delimiter{open: "{-", close: "-}", class: Comment, lines: true, nested: true}
	luaComment  = &delimiter{open: "--[[", close: "]]", class: Comment, lines: true}
	luaString   = &delimiter{open: "[[", close: "]]", class: String, lines: true}
	angled      = &delimiter{open: "<#", close: "#>", class: Comment, lines: true}
)

// languages is the table. Of the delimiters of a row the first that matches counts.
var languages = []*Language{
	{
		names: "go golang", files: ".go", calls: true,
		delimiters: []*delimiter{slashes, slashStar, double, backtick, char},
		keywords:   "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var",
		types:      "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr true false nil iota",
	},
	{
		names: "javascript js jsx mjs cjs node", files: ".js .jsx .mjs .cjs", calls: true, upper: true, letters: "$", decorator: '@',
		delimiters: []*delimiter{slashes, slashStar, double, single, template},
		keywords:   scriptWords, types: scriptTypes,
	},
	{
		names: "typescript ts tsx", files: ".ts .tsx .mts .cts", calls: true, upper: true, letters: "$", decorator: '@',
		delimiters: []*delimiter{slashes, slashStar, double, single, template},
		keywords:   scriptWords + " abstract as asserts declare enum implements infer interface is keyof namespace override private protected public readonly satisfies type",
		types:      scriptTypes + " any bigint boolean never number object string symbol unknown",
	},
	{
		names: "python py python3 pyi", files: ".py .pyi .pyw", calls: true, upper: true, decorator: '@',
		delimiters: []*delimiter{hashes, tripled, tripledOne, double, single},
		keywords:   "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield",
		types:      "True False None self cls int str float bool bytes list dict set tuple object",
	},
	{
		names: "rust rs", files: ".rs", calls: true, upper: true,
		delimiters: []*delimiter{slashes, nestedStar, rustRaw, doubleLong, char},
		keywords:   "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return static struct super trait type union unsafe use where while",
		types:      "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize self Self true false",
	},
	{
		names: "c h", files: ".c .h", calls: true, directive: '#',
		delimiters: []*delimiter{slashes, slashStar, double, single},
		keywords:   cWords, types: cTypes,
	},
	{
		names: "cpp c++ cc cxx hpp objc", files: ".cc .cpp .cxx .hpp .hh .hxx .m .mm .cu .ino", calls: true, directive: '#',
		delimiters: []*delimiter{slashes, slashStar, double, char},
		keywords: cWords + " catch class co_await co_return co_yield concept consteval constexpr constinit decltype delete explicit export final friend mutable namespace new noexcept operator override private protected public" +
			" requires static_assert template this throw try typename using virtual",
		types: cTypes + " auto bool string vector nullptr true false",
	},
	{
		names: "csharp cs c#", files: ".cs", calls: true, upper: true, directive: '#',
		delimiters: []*delimiter{slashes, slashStar, tripled, verbatim, double, single},
		keywords: javaWords + " as async await base checked const delegate event explicit extern fixed foreach get goto implicit in init internal is lock namespace operator out override params partial readonly ref sealed" +
			" set sizeof stackalloc struct unchecked unsafe using virtual when where yield",
		types: javaTypes + " bool decimal dynamic object string uint ulong ushort sbyte nint var",
	},
	{
		names: "java", files: ".java", calls: true, upper: true, decorator: '@',
		delimiters: []*delimiter{slashes, slashStar, tripled, double, single},
		keywords:   javaWords, types: javaTypes + " var",
	},
	{
		names: "kotlin kt kts", files: ".kt .kts", calls: true, upper: true, decorator: '@',
		delimiters: []*delimiter{slashes, nestedStar, tripled, double, single},
		keywords: "abstract actual annotation as break by catch class companion const constructor continue crossinline data do else enum expect final finally for fun if import in infix init inline inner interface internal is" +
			" lateinit noinline object open operator out override package private protected public reified return sealed suspend tailrec this throw try typealias val var vararg when where while",
		types: "true false null",
	},
	{
		names: "swift", files: ".swift", calls: true, upper: true, decorator: '@', directive: '#',
		delimiters: []*delimiter{slashes, nestedStar, tripled, double},
		keywords: "actor as associatedtype async await break case catch class continue default defer deinit do else enum extension fallthrough fileprivate final for func guard if import in init inout internal is lazy let" +
			" mutating nonisolated open override private protocol public repeat required rethrows return static struct subscript super switch throw throws try typealias var weak where while",
		types: "true false nil self Self",
	},
	{
		names: "scala sc", files: ".scala .sc", calls: true, upper: true, decorator: '@',
		delimiters: []*delimiter{slashes, nestedStar, tripled, double, char},
		keywords:   javaWords + " def given implicit lazy match object override sealed then trait type using val var with yield",
		types:      "true false null",
	},
	{
		names: "dart", files: ".dart", calls: true, upper: true, decorator: '@',
		delimiters: []*delimiter{slashes, slashStar, tripled, tripledOne, double, single},
		keywords:   javaWords + " as async await covariant deferred dynamic export extension external factory get in is late library mixin on operator part required rethrow set show sync typedef var with yield",
		types:      "bool double int num void true false null",
	},
	{
		names: "zig", files: ".zig", calls: true, upper: true, decorator: '@',
		delimiters: []*delimiter{slashes, double, char},
		keywords: "align allowzero and anyframe anytype asm async await break callconv catch comptime const continue defer else enum errdefer error export extern fn for if inline noalias nosuspend opaque or orelse packed" +
			" pub resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while",
		types: "bool u8 u16 u32 u64 i8 i16 i32 i64 f32 f64 usize isize void type true false null undefined",
	},
	{
		names: "php", files: ".php", calls: true, upper: true, variable: '$',
		delimiters: []*delimiter{slashes, hashes, slashStar, doubleLong, singleLong},
		keywords:   javaWords + " and array as callable clone declare echo elseif empty endfor endforeach endif endswitch endwhile exit fn foreach function global include isset list match namespace or print require trait unset use xor yield",
		types:      "bool false float int mixed null string true void",
	},
	{
		names: "ruby rb", files: ".rb .rake gemfile rakefile", calls: true, upper: true, letters: "@",
		delimiters: []*delimiter{hash, hashes, double, single},
		keywords:   "alias and begin break case class def defined? do else elsif end ensure for if in module next not or redo rescue retry return super then undef unless until when while yield require attr_accessor attr_reader",
		types:      "true false nil self",
	},
	{
		names: "perl pl", files: ".pl .pm", calls: true, variable: '$',
		delimiters: []*delimiter{hash, double, single},
		keywords:   "and cmp die do else elsif eq for foreach if last local my ne next no not or our package print redo require return sub unless until use while",
	},
	{
		names: "lua", files: ".lua", calls: true,
		delimiters: []*delimiter{luaComment, dashes, luaString, double, single},
		keywords:   "and break do else elseif end for function goto if in local not or repeat return then until while",
		types:      "true false nil self",
	},
	{
		names: "haskell hs", files: ".hs", upper: true, letters: "'",
		delimiters: []*delimiter{dashes, braceDash, double, char},
		keywords:   "case class data deriving do else foreign if import in infix infixl infixr instance let module newtype of qualified then type where",
	},
	{
		names: "elixir ex exs", files: ".ex .exs", calls: true, upper: true, decorator: '@',
		delimiters: []*delimiter{hash, tripled, double, single},
		keywords:   "after and case catch cond def defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in not or quote raise receive require rescue try unless unquote use when with",
		types:      "true false nil",
	},
	{
		names: "erlang erl", files: ".erl .hrl", calls: true, upper: true,
		delimiters: []*delimiter{percent, double, single},
		keywords:   "after and andalso begin case catch end fun if not of or orelse receive try when xor",
		types:      "true false undefined ok error",
	},
	{
		names: "r", files: ".r", calls: true, letters: ".",
		delimiters: []*delimiter{hashes, double, single},
		keywords:   "break else for function if in next repeat return while library",
		types:      "true false TRUE FALSE NULL NA Inf NaN",
	},
	{
		names: "shell bash sh zsh shellscript ksh fish", files: ".sh .bash .zsh .fish .bashrc .zshrc .profile", variable: '$',
		delimiters: []*delimiter{hash, doubleLong, literal},
		keywords:   "alias break case cd continue do done echo elif else esac eval exec exit export fi for function if in local read readonly return select set shift source test then time trap unset until while",
		types:      "true false",
	},
	{names: "console shell-session terminal sh-session bash-session", special: console},
	{
		names: "powershell ps1 pwsh", files: ".ps1 .psm1", caseless: true, variable: '$',
		delimiters: []*delimiter{angled, hash, double, literal},
		keywords:   "begin break catch class continue do else elseif end exit filter finally for foreach function if in param process return switch throw trap try until using while",
	},
	{
		names: "dockerfile docker containerfile", files: "dockerfile containerfile .dockerfile", variable: '$',
		delimiters: []*delimiter{hash, double, single},
		keywords:   "ADD ARG AS CMD COPY ENTRYPOINT ENV EXPOSE FROM HEALTHCHECK LABEL ONBUILD RUN SHELL STOPSIGNAL USER VOLUME WORKDIR",
	},
	{
		names: "make makefile mk", files: "makefile gnumakefile .mk .mak", variable: '$', key: ':', letters: "-.%/",
		delimiters: []*delimiter{hash, double, single},
		keywords:   "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath .PHONY",
	},
	{
		names: "sql mysql postgres postgresql sqlite plsql", files: ".sql", caseless: true, calls: true,
		delimiters: []*delimiter{dashes, slashStar, literal, double, backtick},
		keywords: "add all alter analyze and as asc begin between by cascade case check column commit constraint create cross database default delete desc distinct drop else end except exists explain foreign from full grant" +
			" group having if in index inner insert intersect into is join key left like limit not null offset on or order outer over partition primary references returning revoke right rollback select set table then to" +
			" transaction trigger truncate union unique update using values view when where with",
		types: "bigint blob bool boolean bytea char date decimal double false float int integer json jsonb numeric real serial smallint text time timestamp timestamptz true uuid varchar",
	},
	{names: "html xhtml vue svelte astro", files: ".html .htm .xhtml .vue .svelte .astro", delimiters: markupDelimiters, special: markup},
	{names: "xml svg xsl plist", files: ".xml .svg .xsl .xsd .plist .csproj .pom", delimiters: markupDelimiters, special: markup},
	{
		names: "css scss less sass", files: ".css .scss .less .sass", key: ':', letters: "-", directive: '@', calls: true, variable: '$',
		delimiters: []*delimiter{slashStar, slashes, double, single},
		types:      "auto none inherit initial unset",
	},
	{
		names: "json jsonc json5 jsonl ndjson", files: ".json .jsonc .json5 .jsonl .ndjson .webmanifest .lock", key: ':',
		delimiters: []*delimiter{slashes, slashStar, double, single},
		keywords:   "true false null",
	},
	{
		names: "yaml yml", files: ".yaml .yml .clang-format", key: ':', letters: "-./$",
		delimiters: []*delimiter{hash, doubleApart, singleApart},
		keywords:   "true false null yes no on off",
	},
	{
		names: "toml", files: ".toml", key: '=', letters: "-.",
		delimiters: []*delimiter{hashes, tripled, tripledOne, double, literal},
		keywords:   "true false inf nan", special: sections,
	},
	{
		names: "ini conf cfg properties dotenv env editorconfig",
		files: ".ini .cfg .conf .env .properties .editorconfig .gitconfig .service", key: '=', letters: "-.",
		delimiters: []*delimiter{hash, semicolon, doubleApart, singleApart},
		keywords:   "true false yes no on off", special: sections,
	},
	{
		names: "hcl terraform tf", files: ".tf .tfvars .hcl", key: '=', calls: true, letters: "-",
		delimiters: []*delimiter{hashes, slashes, slashStar, double},
		keywords:   "data for if in locals module output provider resource terraform variable true false null",
	},
	{
		names: "nix", files: ".nix", key: '=', letters: "-'",
		delimiters: []*delimiter{hashes, slashStar, doubleLong},
		keywords:   "assert else if in inherit let or rec then with", types: "true false null",
	},
	{
		names: "protobuf proto", files: ".proto", upper: true,
		delimiters: []*delimiter{slashes, slashStar, double, single},
		keywords:   "enum extend import map message oneof option optional package public repeated required reserved returns rpc service stream syntax",
		types:      "bool bytes double fixed32 fixed64 float int32 int64 sint32 sint64 string uint32 uint64 true false",
	},
	{
		names: "graphql gql", files: ".graphql .gql", upper: true, decorator: '@', variable: '$',
		delimiters: []*delimiter{hashes, tripled, double},
		keywords:   "directive enum extend fragment implements input interface mutation on query scalar schema subscription type union",
		types:      "true false null",
	},
	{names: "diff patch udiff", files: ".diff .patch", special: diff},
	{names: "markdown md mdx", files: ".md .markdown .mdx", special: markdown},
}

const (
	scriptWords = "async await break case catch class const continue debugger default delete do else export extends finally for from function get if import in instanceof let new of return set static super switch this throw" +
		" try typeof var void while with yield"
	scriptTypes = "true false null undefined NaN Infinity"
	cWords      = "break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while"
	cTypes      = "bool char double float int int8_t int16_t int32_t int64_t long short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t unsigned void NULL true false"
	javaWords   = "abstract assert break case catch class continue default do else enum extends final finally for goto if implements import instanceof interface native new package permits private protected public record return" +
		" static strictfp super switch synchronized this throw throws transient try volatile while"
	javaTypes = "boolean byte char double float int long short void true false null"
)
