#compdef ralph
# Completion of ralph for zsh. Load it with: source <(ralph completion zsh)
# or write it to a file _ralph in a folder of $fpath.
_ralph() {
	local line word
	local -a closed
	local -i nospace=0 files=0 folders=0
	for line in "${(@f)$("${(Q)words[1]/#\~/$HOME}" complete --shell zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}"; do
		case $line in
		('') ;;
		(:nospace) nospace=1 ;;
		(:files) files=1 ;;
		(:folders) folders=1 ;;
		(*)
			word=${${line%%$'\t'*}//:/\\:}
			if [[ $line == *$'\t'* ]]; then
				closed+=("$word:${line#*$'\t'}")
			else
				closed+=("$word")
			fi
			;;
		esac
	done
	if (( nospace )); then
		_describe -t values value closed -S ''
	elif (( $#closed )); then
		_describe -t values value closed
	fi
	(( files )) && _files
	(( folders )) && _files -/
	return 0
}
if [ "$funcstack[1]" = _ralph ]; then
	_ralph "$@"
else
	compdef _ralph ralph
fi
