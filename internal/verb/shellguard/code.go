package shellguard

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-loop/ralph/internal/ground/units"
)

// languages are the interpreters whose code is searched for known dangers. It is not parsed.
var languages map[string]bool

const languageNames = "python pypy perl ruby node nodejs bun deno php lua luajit Rscript osascript tclsh irb ipython jshell groovy swift elixir guile pwsh powershell"

// codeOptions are the options by which interpreters take code.
var codeOptions = strings.Fields("c e E r p eval print Command command Mechanize nE ne pe le lne ane")

// runInterpreter judges the code that an interpreter gets.
func runInterpreter(c *command) string {
	c.judged()
	options, values := codeOptions, strings.Fields("m I W X M l i")
	if c.name == "perl" || c.name == "ruby" {
		options, values = []string{"e", "E"}, []string{"I", "M", "r"}
	}
	o := c.leading(slices.Concat(options, values)...)
	code, words := o.of(options...), o.operands
	for i, arg := range c.args { // perl -pi -e CODE, perl -lne CODE
		if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && strings.HasSuffix(strings.ToLower(arg), "e") && len(options) == 2 && i+1 < len(c.args) {
			code = append(code, c.args[i+1])
		}
	}
	module := o.of("m") // its input is data
	switch {
	case len(code) > 0:
		c.readAll(words)
	case (c.name == "deno" || c.name == "bun") && len(words) > 1 && words[0] == "eval":
		code = words[1:2]
	case c.name == "deno" || c.name == "bun":
		if len(words) > 1 && words[0] == "run" {
			c.interpret(slices.DeleteFunc(slices.Clone(words[1:]), func(w string) bool { return strings.HasPrefix(w, "-") }))
		}
	case len(module) > 0:
		if c.name == "python" && rules[module[0]] != nil { // the same as the command
			return c.simple(append(module[:1:1], words...), c.in)
		}
	case len(words) > 0 && words[0] != "-":
		c.interpret(words)
	case c.in.given:
		code = []string{c.in.text}
	}
	for _, text := range code {
		c.code(text)
	}
	return unknown
}

// interpret judges a file of code: its text, if this command has written it.
func (c *command) interpret(words []string) {
	if len(words) == 0 {
		return
	}
	c.runFile(words[0], func(text string) string {
		c.code(text)
		return unknown
	})
	base := path.Base(words[0])
	if judge := rules[base]; judge != nil { // python manage.py flush, php artisan migrate:fresh
		judge(&command{c.shell, base, words[1:], c.in})
	}
}

var (
	codeShell    = units.Pattern("os\\.system|os\\.popen|os\\.exec|os\\.spawn|subprocess|commands\\.getoutput|popen|child_process|exec(Sync|File|FileSync)?\\s*[\"'(]|spawn(Sync)?\\s*\\(|system\\s*[( \"']|shell_exec|passthru|proc_open|`|qx\\b|(exec|system)\\s+qw|%x|Process\\.|IO\\.popen|Open3|do shell script|os\\.execute|Deno\\.Command|Bun\\.\\$|pcntl_exec|Runtime\\.")
	codeNetwork  = units.Pattern(`socket|TCPSocket|fsockopen|net\.(connect|Socket|createConnection)|IO::Socket|Socket\.tcp`)
	codePty      = units.Pattern(`dup2|pty\.spawn|/bin/(ba|z|da)?sh|cmd\.exe|exec\s*[("']|STDIN|\.pipe\(|proc_open|subprocess\.(call|Popen|run)`)
	codeDecodes  = units.Pattern(`b64decode|base64_decode|decode64|unhexlify|fromhex|atob\(|'base64'|"base64"|unpack\(?\s*["']|rot13|rot_13|bytes\.fromhex|codecs\.decode|zlib\.decompress|marshal\.loads|gzinflate|str_rot13|pack\(?\s*["']H|chr\(\d+\)\s*[.+]\s*chr\(|fromCharCode`)
	codeEvals    = units.Pattern(`\bexec\s*\(|\beval\b|\bassert\s*\(|new Function|instance_eval|compile\s*\(|create_function|loadstring|os\.system|subprocess|system\s*\(|__import__|execSync`)
	codeFetches  = units.Pattern(`urlopen|urlretrieve|requests\.get|http\.get|https\.get|fetch\(|LWP::|Net::HTTP|URI\.open|open\(\s*["']https?:|file_get_contents\(\s*["']https?:|curl_exec|httpx\.get|axios`)
	codeSends    = units.Pattern(`requests\.(post|put)|urlopen\([^)]*data|httpx\.post|method:\s*["']P|Net::HTTP\.post|axios\.post|\.sendall\(|smtplib`)
	codeReads    = units.Pattern(`open\(|readFile|read_text|read_bytes|File\.read|IO\.read|file_get_contents|os\.environ\b|process\.env\)|slurp|environ\)`)
	codeRemoves  = units.Pattern(`(?:shutil\.rmtree|rmtree|rm_rf|rm_r|remove_entry_secure|remove_tree|rmSync|fs\.rm|rmdirSync|rimraf|removeSync|Deno\.remove(?:Sync)?|emptyDirSync|remove_dir)\s*\(?\s*(?:Path\(|pathlib\.Path\(|os\.path\.expanduser\()?\s*(["'][^"']*["'])?`)
	codeWrites   = units.Pattern(`(?:writeFileSync|writeFile|appendFileSync|appendFile|write_text|File\.write|file_put_contents|truncateSync|unlinkSync|unlink|os\.remove|File\.delete|copyfile|os\.replace|os\.rename)\s*\(?\s*(["'][^"']*["'])`)
	codeOpens    = units.Pattern(`open\(\s*(["'][^"']*["'])\s*,\s*["'][wax+b]+["']`)
	codeKills    = units.Pattern(`os\.kill\(\s*-1|process\.kill\(\s*-1|os\.killpg\(\s*0|kill\s*\(?\s*9\s*,\s*-1`)
	codeRunsText = units.Pattern(`\bexec\s*\(|\beval\b|os\.system|new Function|runInThisContext`)
	codeQueries  = units.Pattern(`(?i)execute|query|cursor|\$dbh|->do\(`)
	codeForks    = units.Pattern(`while[^\n]{0,20}(?:os\.)?fork\(\)|fork\s+while\s+fork|loop\s*\{\s*fork|while\s*\(?\s*(1|true|True)\s*\)?\s*:?\s*\{?\s*(os\.)?fork|fork while (1|true)`)
	codeString   = units.Pattern("\"((?:[^\"\\\\\n]|\\\\.)*)\"|'((?:[^'\\\\\n]|\\\\.)*)'|`([^`]*)`|%x[({]([^)}]*)[)}]|\\bq[qxw]?\\s*\\(([^)]*)\\)|\\bq[qxw]?\\s*\\{([^}]*)\\}|\\bq[qxw]?/([^/]*)/")
	codeList     = units.Pattern(`(?:["'][^"']*["']\s*,\s*\[?\s*)+["'][^"']*["']`)
	codeChain    = units.Pattern(`["']\s*\+\s*["']`)
)

// code searches the code of another language for known dangers.
func (c *command) code(text string) {
	if c.isUnread(text) || !c.spend(len(text)/64) {
		return
	}
	if isComputed(text) {
		c.cannotJudge("a part of the code " + notCarriedOut)
	}
	const note = " The guard only searches code for known words; it does not read it."
	text = codeChain().ReplaceAllString(text, "") // "r"+"m"
	texts := literals(text)
	switch {
	case codeNetwork().MatchString(text) && codePty().MatchString(text):
		c.deny(RemoteShell, "the code connects a shell with the network. Do not."+note)
	case codeDecodes().MatchString(text) && codeEvals().MatchString(text):
		c.deny(Encoding, "the code runs text that is hidden by an encoding. Write it in plain text."+note)
	case codeFetches().MatchString(text) && codeRunsText().MatchString(text):
		c.deny(Download, "the code runs what it downloads, unseen. Download to a file and read it."+note)
	case codeForks().MatchString(text):
		c.deny(ForkBomb, "the code starts copies of itself until the machine has no processes left. Do not run it."+note)
	case codeKills().MatchString(text):
		c.deny(Processes, "the code ends every process of the person. End those that you started, by their numbers."+note)
	case codeSends().MatchString(text) && codeReads().MatchString(text):
		c.deny(Upload, "the code sends the contents of files or variables to another machine. Keep them here."+note)
	}
	for _, m := range codeRemoves().FindAllStringSubmatch(text, maxAlternatives) {
		if m[1] != "" {
			c.remove(strings.Trim(m[1], `"'`), true)
		}
	}
	for _, pattern := range []*regexp.Regexp{codeWrites(), codeOpens()} {
		for _, m := range pattern.FindAllStringSubmatch(text, maxAlternatives) {
			c.write(strings.Trim(m[1], `"'`))
		}
	}
	if codeQueries().MatchString(text) {
		for _, literal := range texts {
			c.statements(literal)
		}
	}
	for _, literal := range texts {
		if strings.ContainsAny(literal, "/.") && !strings.ContainsAny(literal, " \n") {
			c.read(strings.Replace(literal, "~", c.Home, 1))
		}
	}
	if codeShell().MatchString(text) {
		c.codeCommands(text, texts)
	}
}

// apart returns a shell with a verdict of its own, in which what cannot be judged is allowed.
func (s *shell) apart() *shell {
	sub, own := s.fork(), *s.judgement
	own.verdict, own.Context.Unknown = Verdict{Decision: Allow}, Allow
	sub.judgement = &own
	return sub
}

// codeCommands judges the texts in code that runs programs, as commands of a shell. What cannot be
// judged is allowed: most texts are none.
func (c *command) codeCommands(text string, texts []string) {
	s := c.apart()
	for _, literal := range texts {
		if strings.TrimSpace(literal) != "" {
			s.nested(literal, nil, input{})
		}
	}
	for _, m := range codeList().FindAllStringSubmatch(text, maxAlternatives) {
		s.simple(literals(m[0]), input{})
	}
	c.steps = s.steps
	if v := s.verdict; v.Decision != Allow {
		c.find(v.Decision, v.Category, "the code runs \""+v.Command+"\": "+v.Reason)
	}
}

// literals returns the texts between quotes.
func literals(code string) []string {
	var all []string
	for _, m := range codeString().FindAllStringSubmatch(code, 4*maxAlternatives) {
		for _, group := range m[1:] {
			if group != "" {
				all = append(all, ansi(group))
				break
			}
		}
	}
	return all
}

// judgeAwk judges the commands that an awk program runs, and the files that it reads.
func judgeAwk(c *command) {
	o := c.options("F", "v", "f", "assign", "field-separator")
	if len(o.operands) == 0 {
		return
	}
	files := o.operands
	if !o.has("f") {
		program := o.operands[0]
		files = files[1:]
		if strings.Contains(program, "/inet/tcp") {
			c.deny(RemoteShell, "the program connects with another machine. Use curl for a request.")
		}
		if strings.Contains(program, "system(") || strings.Contains(program, "| getline") || strings.Contains(program, "| \"") || strings.Contains(program, "|\"") {
			c.codeCommands(program, literals(program))
		}
	}
	c.readAll(files)
}
