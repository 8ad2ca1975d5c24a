/** A call as the tool understands it. */
export interface KeystoreCall {
  readonly mode: Mode
  readonly path: string
  readonly password: string
  /** Of `import` alone. */
  readonly secret: string
  readonly type: 'secp' | 'bls' | null
}

const MODES = ['create', 'recover', 'import'] as const
type Mode = (typeof MODES)[number]

interface Grammar {
  /** What `import` takes the secret from. */
  readonly secretOption: 'ikm' | 'private-key'
  readonly program: string
}

/** Takes arguments apart, or says what clap would complain of: often with words of the call in it. */
export const readKeystoreCall = (
  [mode, ...words]: readonly string[],
  { secretOption, program }: Grammar,
): KeystoreCall | string => {
  const named = MODES.find((known) => known === mode)
  if (named === undefined) {
    const usage = `Usage: ${program} <COMMAND>`
    return mode === undefined
      ? `${usage}\n\nCommands:\n  create   Create new random key\n  recover  Recovers key from keystore\n`
      : complaint(`unrecognized subcommand '${mode}'`, usage)
  }
  const needed = [...(named === 'import' ? [secretOption] : []), 'keystore-path', 'password']
  const usage = `Usage: ${program} ${named} [OPTIONS] ${needed.map(withValue).join(' ')}`
  const values = readOptions(words, [...needed, 'key-type'])
  if (typeof values === 'string') return complaint(values, usage)
  const missing = needed.filter((name) => !values.has(name))
  if (missing.length > 0) {
    const lines = missing.map((name) => `\n  ${withValue(name)}`).join('')
    return complaint(`the following required arguments were not provided:${lines}`, usage)
  }
  const word = values.get('key-type') ?? null
  const type = word === 'secp' || word === 'bls' ? word : null
  if (type !== word) {
    return complaint(
      `invalid value '${word}' for '--key-type <KEY_TYPE>'\n  [possible values: secp, bls]`,
    )
  }
  const valueOf = (name: string): string => values.get(name) ?? ''
  return {
    mode: named,
    path: valueOf('keystore-path'),
    password: valueOf('password'),
    secret: valueOf(secretOption),
    type,
  }
}

/** Each option has a value, behind it or behind `=`; the first may not begin with a dash. */
const readOptions = (
  words: readonly string[],
  known: readonly string[],
): ReadonlyMap<string, string> | string => {
  const values = new Map<string, string>()
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const [, name = '', attached] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    if (!known.includes(name)) return unexpected(word)
    if (values.has(name)) return `the argument '${withValue(name)}' cannot be used multiple times`
    const isDetached = attached === undefined
    const value = isDetached ? rest.shift() : attached
    if (value === undefined) {
      return `a value is required for '${withValue(name)}' but none was supplied`
    }
    if (isDetached && /^-./s.test(value)) return unexpected(value)
    values.set(name, value)
  }
  return values
}

const unexpected = (word: string): string => {
  const [flag = word] = /^--[^=]*|^-./s.exec(word) ?? []
  return `unexpected argument '${flag}' found`
}

const withValue = (name: string): string => `--${name} <${name.replaceAll('-', '_').toUpperCase()}>`

const complaint = (message: string, usage?: string): string =>
  `error: ${message}\n${usage === undefined ? '' : `\n${usage}\n`}\nFor more information, try '--help'.\n`
