/** The arguments of a tool, parsed as by getopt_long. */
export interface ParsedArguments {
  /** Every value of an option, in order; an empty string if it takes none. */
  readonly options: ReadonlyMap<string, readonly string[]>
  readonly operands: readonly string[]
}

/** The options: letter or long name → canonical name, and whether a value follows. */
export type Grammar = Readonly<
  Record<string, { readonly name: string; readonly value: 'none' | 'needed' | 'optional' }>
>

/** Parses arguments, or returns getopt's error message. */
export const parseArguments = (grammar: Grammar, argv: readonly string[]): ParsedArguments | string => {
  const options = new Map<string, readonly string[]>()
  const operands: string[] = []
  const rest = [...argv]
  const add = (name: string, value: string): void => {
    options.set(name, [...(options.get(name) ?? []), value])
  }
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    const long = /^--([^=]+)(?:=(.*))?$/s.exec(word)
    const short = /^-([^-])(.*)$/s.exec(word)
    if (!long && !short) {
      operands.push(word)
      continue
    }
    const spelled = long?.[1] ?? short?.[1] ?? ''
    const option = grammar[spelled]
    if (!option) {
      return long ? `unrecognized option '--${spelled}'` : `invalid option -- '${spelled}'`
    }
    const attached = long ? long[2] : short?.[2] || undefined
    if (option.value === 'none') {
      add(option.name, '')
      // `-fn5`: after an option without a value follows the next option.
      if (short && attached !== undefined) rest.unshift(`-${attached}`)
    } else if (attached !== undefined) {
      add(option.name, attached)
    } else if (option.value === 'needed') {
      const value = rest.shift()
      if (value === undefined) return `option '${word}' requires an argument`
      add(option.name, value)
    } else {
      // Only a number or `all` can be the detached value of an optional one (`-n 5`, `--lines all`).
      add(option.name, /^(?:\d+|all)$/.test(rest[0] ?? '') ? (rest.shift() ?? '') : '')
    }
  }
  return { options, operands }
}
