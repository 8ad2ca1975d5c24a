import type { OptionTerm, Term, Words } from './describe.ts'
import type { Offers } from './offers.ts'
import type { Taking } from './taking.ts'

/** What zsh loads to complete our commands: one function a command. */
export const renderZsh = (program: Words, offers: Offers): string =>
  `${[
    '#compdef chain-agent',
    '# zsh completion of chain-agent, written by `chain-agent completion zsh`.',
    '',
    '_chain_agent_scenario() {',
    `  compadd -- ${offers.scenario.join(' ')}`,
    '  _files',
    '}',
    '',
    '# A key and its value are one word.',
    '_chain_agent_key() {',
    `  compadd -S '' -- ${offers.key.join(' ')}`,
    '}',
    ...functionsOf(program, offers),
    '',
    '# Loaded by compinit this file is the function itself; sourced, it has to be told.',
    'if [[ $funcstack[1] == _chain-agent ]]; then _chain_agent "$@"; else compdef _chain_agent chain-agent; fi',
  ].join('\n')}\n`

const functionsOf = (words: Words, offers: Offers): readonly string[] => [
  ...words.commands.flatMap((child) => functionsOf(child, offers)),
  '',
  `${functionName(words)}() {`,
  ...(words.commands.length > 0 ? dispatch(words, offers) : plain(words, offers)),
  '}',
]

const functionName = ({ path }: Words): string =>
  ['_chain_agent', ...(path === '' ? [] : path.split(/[ -]/))].join('_')

const plain = (words: Words, offers: Offers): readonly string[] => [
  '  _arguments -s -S \\',
  [
    ...words.options.flatMap((option) => optionSpecs(option, offers)),
    ...words.arguments.map((argument, index) => {
      const isLast = index === words.arguments.length - 1
      const place = isLast && words.isVariadic ? '*' : String(index + 1)
      return quote(`${place}${messageOf(argument, offers, argument.term.startsWith('['))}`)
    }),
  ]
    .map((spec) => `    ${spec}`)
    .join(' \\\n'),
]

const dispatch = (words: Words, offers: Offers): readonly string[] => [
  '  local curcontext=$curcontext context state state_descr line',
  '  typeset -A opt_args',
  '  _arguments -s -S -C \\',
  [
    ...words.options.flatMap((option) => optionSpecs(option, offers)),
    "'1:command:->command'",
    "'*::argument:->rest'",
  ]
    .map((spec) => `    ${spec}`)
    .join(' \\\n'),
  '  case $state in',
  '    command)',
  '      local -a commands=(',
  ...words.commands.map(
    ({ name, summary }) => `        ${quote(`${name}:${summary.replaceAll(':', String.raw`\:`)}`)}`,
  ),
  '      )',
  "      _describe -t commands 'command' commands",
  '      ;;',
  '    rest)',
  '      case $words[1] in',
  ...words.commands.map((child) => `        ${child.name}) ${functionName(child)} ;;`),
  '      esac',
  '      ;;',
  '  esac',
]

const optionSpecs = (option: OptionTerm, offers: Offers): readonly string[] =>
  option.names.map((name) => {
    const others = option.isRepeatable ? '*' : `(${option.names.join(' ')})`
    const takes = option.takes ? messageOf(option, offers, /\[.+\]$/.test(option.term)) : ''
    const glued = option.takes && name.startsWith('--') ? '=' : ''
    return quote(`${others}${name}${glued}[${inBrackets(option.description)}]${takes}`)
  })

const messageOf = ({ term, takes }: Term, offers: Offers, isOptional: boolean): string => {
  const what = /[<[](.+?)(?:\.\.\.)?[>\]]/.exec(term)?.[1] ?? 'value'
  const action = takes ? actionOf(takes, offers) : ' '
  return `${isOptional ? '::' : ':'}${what.replaceAll(':', String.raw`\:`)}:${action}`
}

const actionOf = (taking: Taking, offers: Offers): string => {
  switch (taking.kind) {
    case 'words':
      return `(${taking.words.join(' ')})`
    case 'offer':
      if (taking.offer === 'scenario' || taking.offer === 'key') {
        return `_chain_agent_${taking.offer}`
      }
      return `(${offers[taking.offer].join(' ')})`
    case 'file':
      return '_files'
    case 'directory':
      return '_files -/'
    case 'anything':
      return ' '
  }
}

const inBrackets = (text: string): string => text.replaceAll(/[[\]\\:]/g, String.raw`\$&`)

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`
