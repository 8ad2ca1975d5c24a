import { StoreError } from '../errors.ts'
import type { Block, StoredLog } from '../store.ts'

/** Characters of an address and of a hash or topic, with 0x. */
const ADDRESS = 42
const HASH = 66

/** Address, hash of the transaction, topics and data of a log, one after another. */
export const packedOf = (block: Block, log: StoredLog): Uint8Array => {
  const { address, transactionHash, topics, data } = log
  if (
    address.length !== ADDRESS ||
    transactionHash.length !== HASH ||
    topics.length > 4 ||
    topics.some((topic) => topic.length !== HASH)
  )
    throw malformed(block, log)
  let hex = address.slice(2) + transactionHash.slice(2)
  for (const topic of topics) hex += topic.slice(2)
  hex += data.slice(2)
  const bytes = Buffer.from(hex, 'hex')
  // Node ends at the first character that is no hex, without a word.
  if (2 * bytes.length !== hex.length) throw malformed(block, log)
  return bytes
}

const malformed = ({ number }: Block, { logIndex }: StoredLog): StoreError =>
  new StoreError('conflict', {
    doing: `add block ${number} to the store`,
    happened: `its log ${logIndex} is not as logs are`,
  })
