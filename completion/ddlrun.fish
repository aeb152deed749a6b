# SPDX-License-Identifier: MIT
# Completes ddlrun, ddl-train and ddl-bench in fish 3. README.md.

function __ddlrun_complete
    set -l words (commandline -opc)
    set -l typed (commandline -ct)
    set -l program (string replace -r '.*/' '' -- $words[1])
    type -fq $program; or return
    set -l answer (command $program __complete $words[2..-1] $typed 2>/dev/null)
    set -l head (string split ' ' -- $answer[1])
    if test "$head[1]" = :program; and set -q head[3]; and type -fq $head[3]
        set answer (command $head[3] __complete $words[(math $head[2] + 2)..-1] $typed 2>/dev/null)
        set head (string split ' ' -- $answer[1])
    end
    set -q answer[2]; and string join \n -- $answer[2..-1]
    switch "$head[1]"
        case :program
            complete -C (string join ' ' -- (string escape -- $words[(math $head[2] + 2)..-1]) $typed)
        case :files
            # Behind "--option=" fish gets whole words.
            for file in (__fish_complete_path (string replace -- "$head[2]" '' "$typed"))
                echo "$head[2]$file"
            end
        case :directories
            for directory in (__fish_complete_directories (string replace -- "$head[2]" '' "$typed") '')
                echo "$head[2]$directory"
            end
    end
end

for program in ddlrun ddl-train ddl-bench
    complete -c $program -f -a '(__ddlrun_complete)'
end
