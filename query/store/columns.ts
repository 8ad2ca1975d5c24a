import { LOG_FIELDS, type LogField } from '../log-fields.ts'
import { StoreError } from './errors.ts'
import { encodedBytes, type LogPage, type Selection, type StoredHeader } from './store.ts'

type Fields = Pick<Selection, 'fields' | 'encoding'>

/** Fields that are not stored with each log: they follow from its block. */
type BlockField = 'block_hash' | 'block_number' | 'removed'

const isOfBlock = (field: LogField): field is BlockField =>
  field === 'block_hash' || field === 'block_number' || field === 'removed'

/** The requested fields that are stored with each log. */
export const storedFields = ({ fields }: Fields): readonly Exclude<LogField, BlockField>[] =>
  LOG_FIELDS.filter((field) => fields.includes(field)).filter((field) => !isOfBlock(field))

/** The approximate length of the other values of a row as text. */
export const blockFieldsLength = ({ fields, encoding }: Fields): number => {
  const lengths = { block_hash: encoding === 'hex' ? 66 : 32, block_number: 8, removed: 5 }
  return fields.filter(isOfBlock).reduce((sum, field) => sum + lengths[field], 0)
}

type HeadsOf = (numbers: readonly number[]) => Promise<readonly StoredHeader[]>

/** The page with the columns of the other fields. */
export const withBlockFields = async (
  page: LogPage,
  { fields, encoding }: Fields,
  headsOf: HeadsOf,
): Promise<LogPage> => {
  const { blocks } = page
  const columns = new Map(page.columns)
  if (fields.includes('block_number')) columns.set('block_number', blocks)
  // Final logs are not removed.
  if (fields.includes('removed'))
    columns.set(
      'removed',
      Array.from(blocks, () => false),
    )
  if (fields.includes('block_hash')) {
    const heads = await headsOf(blocks)
    const hashes = new Map(heads.map(({ number, hash }) => [number, encodedBytes(hash, encoding)]))
    const hashOf = (block: number): string => hashes.get(block) ?? missingHeader(block)
    columns.set('block_hash', blocks.map(hashOf))
  }
  return { ...page, columns }
}

const missingHeader = (block: number): never => {
  throw new StoreError('unavailable', { doing: 'read logs', happened: `block ${block} has logs but no header` })
}

/** Reads headers with some statements, ordered by number. `read` gets at most `size` numbers, in their order and each once. */
export const readInBatches = async (numbers: readonly number[], size: number, read: HeadsOf) => {
  const wanted = [...new Set(numbers)].filter(Number.isSafeInteger).toSorted((one, other) => one - other)
  const heads: StoredHeader[] = []
  for (let at = 0; at < wanted.length; at += size) heads.push(...(await read(wanted.slice(at, at + size))))
  return heads
}
