import type { Words } from './describe.ts'
import type { Offers } from './offers.ts'
import { withBelow } from './shared.ts'
import type { Taking } from './taking.ts'

/** What bash sources to complete our commands. */
export const renderBash = (program: Words, offers: Offers): string => {
  const all = withBelow(program)
  return `${[
    '# bash completion of chain-agent, written by `chain-agent completion bash`.',
    '',
    '# What may stand in a place: after an option (PATH:OPTION), or as an argument (PATH:NUMBER).',
    '_chain_agent_place() {',
    "  kind='' words=''",
    '  case $1 in',
    ...placesOf(all).map(
      ([patterns, taking]) => `    ${patterns.join(' | ')}) ${assign(taking, offers)} ;;`,
    ),
    '    *) return 1 ;;',
    '  esac',
    '}',
    '',
    '_chain_agent_commands() {',
    "  words=''",
    '  case $1 in',
    ...all
      .filter(({ commands }) => commands.length > 0)
      .map(({ path, commands }) => `    '${path}') words='${names(commands)}' ;;`),
    '  esac',
    '}',
    '',
    '_chain_agent_options() {',
    '  case $1 in',
    ...all.map(
      ({ path, options }) =>
        `    '${path}') words='${options.flatMap((option) => option.names).join(' ')}' ;;`,
    ),
    '  esac',
    '}',
    FUNCTION,
  ].join('\n')}\n`
}

const names = (commands: readonly Words[]): string => commands.map(({ name }) => name).join(' ')

const assign = (taking: Taking, offers: Offers): string => {
  if (taking.kind === 'words') return `kind=words words='${taking.words.join(' ')}'`
  if (taking.kind === 'offer') {
    return `kind=${taking.offer} words='${offers[taking.offer].join(' ')}'`
  }
  return `kind=${taking.kind}`
}

/** One line for all the places where the same may stand. */
const placesOf = (
  all: readonly Words[],
): readonly (readonly [patterns: readonly string[], taking: Taking])[] => {
  const found = new Map<string, { readonly patterns: string[]; readonly taking: Taking }>()
  const add = (pattern: string, taking: Taking): void => {
    const group = found.get(JSON.stringify(taking)) ?? { patterns: [], taking }
    group.patterns.push(`'${pattern}'`)
    found.set(JSON.stringify(taking), group)
  }
  for (const words of all) {
    for (const option of words.options) {
      const { takes } = option
      if (takes) for (const name of option.names) add(`${words.path}:${name}`, takes)
    }
    for (const [index, { takes }] of words.arguments.entries()) {
      const isLast = index === words.arguments.length - 1
      if (!takes) continue
      add(`${words.path}:${index + 1}`, takes)
      if (isLast && words.isVariadic) add(`${words.path}:more`, takes)
    }
  }
  return [...found.values()].map(({ patterns, taking }) => [patterns, taking])
}

/** Bash has cut the line at blanks, and at each "=". */
const FUNCTION = String.raw`
_chain_agent() {
  local current=${'$'}{COMP_WORDS[COMP_CWORD]} path='' option='' skip='' number=1 kind words word i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${'$'}{COMP_WORDS[i]}
    if [[ $word == = ]]; then
      [[ $option ]] || skip=yes
    elif [[ $option || $skip ]]; then
      option='' skip=''
    elif [[ $word == -* ]]; then
      if _chain_agent_place "$path:$word"; then option=$word; fi
    else
      _chain_agent_commands "$path"
      if [[ " $words " == *" $word "* ]]; then
        path=${'$'}{path:+$path }$word
      else
        number=$((number + 1))
      fi
    fi
  done
  COMPREPLY=()
  if [[ $current == = ]]; then current=''; [[ $option ]] || return 0; fi
  [[ $skip ]] && return 0
  kind='' words=''
  if [[ $option ]]; then
    _chain_agent_place "$path:$option"
  elif [[ $current == -* ]]; then
    _chain_agent_options "$path"
  else
    ((number > 1)) || _chain_agent_commands "$path"
    [[ $words ]] || _chain_agent_place "$path:$number" || _chain_agent_place "$path:more"
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  case $kind in
    key) compopt -o nospace 2> /dev/null ;;
    file | scenario)
      mapfile -t -O ${'$'}{#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$current")
      compopt -o filenames 2> /dev/null
      ;;
    directory)
      mapfile -t COMPREPLY < <(compgen -d -- "$current")
      compopt -o filenames 2> /dev/null
      ;;
  esac
  return 0
}

complete -F _chain_agent chain-agent`
