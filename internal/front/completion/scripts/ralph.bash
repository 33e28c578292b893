# Completion of ralph for bash. Load it with: source <(ralph completion bash)
_ralph() {
	local line
	COMPREPLY=()
	while IFS= read -r line; do
		case $line in
		:nospace) compopt -o nospace 2>/dev/null ;;
		:files) compopt -o default 2>/dev/null ;;
		:folders) compopt -o dirnames 2>/dev/null ;;
		*) COMPREPLY+=("$(printf %q "$line")") ;;
		esac
	done < <("${1/#\~/$HOME}" complete --shell bash -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _ralph ralph
