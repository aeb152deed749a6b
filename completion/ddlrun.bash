# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Completes ddlrun, ddl-train and ddl-bench in bash 4 and later; bash-completion is not needed. README.md.

# Splits the line up to the cursor at blanks, as the program gets its words: bash also splits at the characters of
# COMP_WORDBREAKS, such as = and :.
__ddlrun_words() {
  local rest=${COMP_LINE:0:COMP_POINT} piece i
  words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    piece=${COMP_WORDS[i]}
    if [[ $i -eq 0 || $rest == [[:blank:]]* ]]; then
      rest=${rest#"${rest%%[![:blank:]]*}"}
      words+=("")
    fi
    [[ $i -lt $COMP_CWORD ]] || piece=$rest
    words[-1]+=$piece
    rest=${rest#"$piece"}
  done
}

__ddlrun_complete() {
  local words=() answer kind argument implied cut typed line
  __ddlrun_words
  local program=${words[0]##*/}
  type -P "$program" > /dev/null || return
  mapfile -t answer < <(command "$program" __complete "${words[@]:1}" 2> /dev/null)
  [[ ${#answer[@]} -gt 0 ]] || return
  read -r kind argument implied <<< "${answer[0]}"
  if [[ $kind == :program && -n $implied ]] && type -P "$implied" > /dev/null; then
    mapfile -t answer < <(command "$implied" __complete "${words[@]:argument+1}" 2> /dev/null)
    read -r kind argument _ <<< "${answer[0]}"
  fi
  typed=${words[-1]}
  # readline replaces only what follows the last character of COMP_WORDBREAKS.
  cut=$((${#typed} - ${#COMP_WORDS[COMP_CWORD]}))
  [[ ${COMP_WORDS[COMP_CWORD]} != [=:] ]] || cut=${#typed}
  for line in "${answer[@]:1}"; do
    line=${line%%$'\t'*}
    COMPREPLY+=("${line:cut}")
  done
  [[ ${answer[0]} != *" open"* ]] || compopt -o nospace
  case $kind in
    :program)
      # bash-completion completes the other program, where it is loaded.
      if declare -F _command_offset > /dev/null && [[ ${#words[@]} -eq ${#COMP_WORDS[@]} ]]; then
        _command_offset $((argument + 1))
      else
        # A path is completed by readline, which quotes it; compgen does not, and a file name could be a command.
        [[ ${#words[@]} -ne $((argument + 2)) || $typed == */* ]] || mapfile -t COMPREPLY < <(compgen -c -- "$typed")
        compopt -o default
      fi
      ;;
    :files)
      if [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        compopt -o default
      else
        compopt -o filenames
        mapfile -O "${#COMPREPLY[@]}" -t COMPREPLY < <(compgen -f -- "${typed:cut}")
      fi
      ;;
    :directories)
      compopt -o dirnames
      ;;
  esac
}

complete -F __ddlrun_complete ddlrun ddl-train ddl-bench
