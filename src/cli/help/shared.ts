import type { OptionTerm, Words } from './describe.ts'

/** What the environment says, beside the variables of the configuration. */
export const ENVIRONMENT = [
  [
    'CHAIN_AGENT_CONFIG',
    'the configuration file if --config names none; default /etc/chain-agent/config.yaml if it exists',
  ],
  ['CHAIN_AGENT_*', 'any key of the configuration: CHAIN_AGENT_RPC_INTERVAL is rpc.interval'],
  ['CHAIN_AGENT_API_KEY', 'the key for a query service, where --api-key-file names none'],
  ['NO_COLOR', 'where it is not empty, nothing is coloured'],
  ['FORCE_COLOR', 'where it is not empty, 0 or false, even a pipe gets colour'],
  ['COLUMNS', 'how long a line may be where the output is no terminal'],
  ['LC_ALL, LC_CTYPE, LANG', 'where the first that is set is not UTF-8, all output is ASCII'],
] as const

/** A command and all that are below it. */
export const withBelow = (words: Words): readonly Words[] => [
  words,
  ...words.commands.flatMap(withBelow),
]

/** The options that stand under a heading of their own: everywhere the same, so told once. */
export const sharedOptions = (program: Words): readonly OptionTerm[] => {
  const all = withBelow(program).flatMap(({ options }) =>
    options.filter(({ group }) => group !== undefined),
  )
  return all.filter(({ term }, index) => all.findIndex((other) => other.term === term) === index)
}
