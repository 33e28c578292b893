# Completion of ralph for fish. Load it with: ralph completion fish | source
function __ralph_complete
    set -l words (commandline -opc)
    set -l now (commandline -ct)
    test -n "$now"; or set now ''
    for line in ($words[1] complete --shell fish -- $words[2..-1] $now 2>/dev/null)
        switch $line
            case ':files'
                __fish_complete_path $now
            case ':folders'
                __fish_complete_directories $now
            case ':nospace'
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c ralph -f -a '(__ralph_complete)'
