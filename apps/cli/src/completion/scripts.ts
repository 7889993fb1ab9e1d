/**
 * The scripts. Each calls `lodge __complete` with the words so far, and offers what it prints: a word, a tab, its meaning. The
 * words are data and never code: bash's `compgen -W`, which would expand them, is not used. Without a word, files are offered.
 */
const bash = `# lodge: completion for bash
_lodge() {
  local at line word last=0 head=
  local -a words=()
  COMPREPLY=()
  # bash takes --option=value apart, and replaces what stands behind the = alone.
  for ((at = 1; at <= COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    if [[ at -gt 1 && ( "$word" == = || "\${COMP_WORDS[at - 1]}" == = ) ]]; then words[last]+="$word"
    else words[++last]="$word"; fi
  done
  case "\${COMP_WORDS[COMP_CWORD - 1]}\${COMP_WORDS[COMP_CWORD]}" in
    *=*) head="\${words[last]%%=*}=" ;;
  esac
  while IFS= read -r line; do
    word="\${line%%$'\\t'*}"
    [ -n "$word" ] && COMPREPLY+=("\${word#"$head"}")
  done < <(lodge __complete -- "\${words[@]}" 2>/dev/null)
}
complete -o default -F _lodge lodge
`;

const zsh = `#compdef lodge
# lodge: completion for zsh
_lodge() {
  local line
  local -a found
  while IFS= read -r line; do
    local word="\${line%%$'\\t'*}" meaning="\${line#*$'\\t'}"
    [[ -n "$word" ]] && found+=("\${word//:/\\\\:}:\${meaning}")
  done < <(lodge __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#found} )); then _describe -V 'lodge' found; else _files; fi
}
if [[ "\${funcstack[1]}" == _lodge ]]; then _lodge "$@"; else compdef _lodge lodge; fi
`;

const fish = `# lodge: completion for fish
function __lodge_complete
  set -l words (commandline -opc) (commandline -ct)
  lodge __complete -- $words[2..-1] 2>/dev/null
end
complete -c lodge -f -a '(__lodge_complete)'
complete -c lodge -n 'test -z "$(__lodge_complete)"' -F
`;

export const scripts = { bash, zsh, fish } as const;
