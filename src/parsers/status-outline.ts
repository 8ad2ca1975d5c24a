import { plainLines } from './plain-lines.ts'

/** A text of `key: value` lines whose sections are told by indentation alone. */
export interface Outline {
  /** By the path of keys, like `rpc.blockNumber`. Empty where nothing stands behind the key. */
  readonly values: ReadonlyMap<string, string>
  /** Lines of another kind: what the programs behind the report complained of. */
  readonly strayLines: number
}

/** The longest value of a report, a key of 130 digits, is far below. */
const MAX_VALUE = 256
const LINE = /^( *)([A-Za-z][\w-]{0,63}):(?: +(.*))?$/

/** Reads every line that is `key: value`; of two with the same path, the first. */
export const readOutline = (text: string): Outline => {
  const values = new Map<string, string>()
  let open: readonly { readonly depth: number; readonly path: string }[] = []
  let strayLines = 0
  for (const line of plainLines(text)) {
    if (line === '' || line.trimStart().startsWith('#')) continue
    const [, blanks, key, value = ''] = LINE.exec(line.replaceAll('\t', '  ')) ?? []
    if (blanks === undefined || key === undefined || value.length > MAX_VALUE) {
      strayLines += 1
      continue
    }
    const around = open.filter(({ depth }) => depth < blanks.length)
    const path = [around.at(-1)?.path, key].filter((part) => part !== undefined).join('.')
    if (!values.has(path)) values.set(path, value)
    // Only a key without a value begins a section, and ends another: a complaint in between does not.
    if (value === '') open = [...around, { depth: blanks.length, path }]
  }
  return { values, strayLines }
}
