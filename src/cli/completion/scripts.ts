// The shells' side of completion. A script passes the words to `pointsman __complete`, which prints a candidate a line,
// with its description behind a tab, or `:files`. No script evaluates a word.

const BASH = `# bash completion of pointsman
_pointsman() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("\${line%%$'\\t'*}")
    fi
  done < <(pointsman __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _pointsman pointsman
`;

const ZSH = `#compdef pointsman
# zsh completion of pointsman
_pointsman() {
  local line
  local -a found
  for line in "\${(@f)$(pointsman __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    [[ -n $line ]] && found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe pointsman found
}
if [[ $funcstack[1] == _pointsman ]]; then
  _pointsman "$@"
else
  compdef _pointsman pointsman
fi
`;

const FISH = `# fish completion of pointsman
function __pointsman_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  for line in (pointsman __complete -- $words "$current" 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path "$current"
    else
      echo $line
    end
  end
end
complete -c pointsman -f -a '(__pointsman_complete)'
`;

export const SCRIPTS = { bash: BASH, zsh: ZSH, fish: FISH } as const;
