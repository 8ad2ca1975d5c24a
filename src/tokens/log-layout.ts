import { type PlainJson } from './plain-json.ts'

/** What is read of a field: a number, an address or topic of so many digits, data, `false`, or nothing. */
export type FieldKind =
  | 'block'
  | 'index'
  | 'address'
  | 'topic0'
  | 'topic1'
  | 'topic2'
  | 'topic3'
  | 'data'
  | 'removed'
  | 'other'

const KINDS: ReadonlyMap<string, FieldKind> = new Map<string, FieldKind>([
  ['block_number', 'block'],
  ['log_index', 'index'],
  ['address', 'address'],
  ['topic0', 'topic0'],
  ['topic1', 'topic1'],
  ['topic2', 'topic2'],
  ['topic3', 'topic3'],
  ['data', 'data'],
  ['removed', 'removed'],
])

const NEEDED: readonly FieldKind[] = ['block', 'index', 'topic0']

/** A field of a log, and the bytes before its value: `,"topic1":`. */
export interface Field {
  readonly kind: FieldKind
  readonly length: number
  /** The bytes by fours, the last four once more where they do not come out even; and where each four begin. */
  readonly fours: Int32Array
  readonly starts: Int32Array
}

/** Learned from the first log of a page: its fields in their order. Undefined where they can not be read blindly. */
export const learnLayout = (json: PlainJson): readonly Field[] | undefined => {
  const fields: Field[] = []
  const names = new Set<string>()
  const isPlain = json.members((name) => {
    if (names.has(name)) return false
    const text = `${names.size === 0 ? '{' : ','}"${name}":`
    names.add(name)
    fields.push({ kind: KINDS.get(name) ?? 'other', ...cut(text) })
    return json.skip()
  })
  const kinds = new Set(fields.map(({ kind }) => kind))
  return isPlain && NEEDED.every((kind) => kinds.has(kind)) ? fields : undefined
}

const cut = (text: string): Omit<Field, 'kind'> => {
  const bytes = new DataView(Uint8Array.from(text, (character) => character.charCodeAt(0)).buffer)
  const length = bytes.byteLength
  const starts = Int32Array.from({ length: Math.ceil(length / 4) }, (_, four) =>
    Math.min(4 * four, length - 4),
  )
  return { length, starts, fours: starts.map((start) => bytes.getInt32(start)) }
}
