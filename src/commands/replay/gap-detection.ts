import { second } from '../../core/units.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { parseLedgerLine } from '../../parsers/ledger-tail.ts'

interface Gap {
  /** Length of the gap in milliseconds. */
  readonly lasted: number
  /** The first entries after the gap. */
  readonly after: readonly JournalEntry[]
  /** The newest block before the gap. */
  readonly block: number | undefined
  /** The boot ID before the gap. */
  readonly boot: string
  /** Whether consensus was down, so that the other services log nothing. */
  readonly isDown: boolean
}

/**
 * A block logged at least this long after its timestamp, and at least this share of the gap, was fetched by a node that
 * had stalled. The share is needed because ledger-tail begins with blocks of the last minute when it starts.
 */
const LATE_MS = 10 * second
const LATE_SHARE = 0.1
/** Maximum number of blocks missed if the chain itself had stalled. */
const STALLED_CHAIN_BLOCKS = 20

/**
 * Whether a gap of minutes means that entries are missing, rather than that the node logged nothing. A node that
 * stalled resumes with old blocks or with the next one. If the first block is recent and many blocks are missing, the
 * node was running and its entries were not kept.
 */
export const isRecordingMissing = ({ lasted, after, block, boot, isDown }: Gap): boolean => {
  const id = after[0]?.fields['_BOOT_ID']
  if (id !== undefined && boot !== '' && id !== boot) return true
  if (isDown) return false
  for (const { message } of after) {
    const event = parseLine(message)
    if (event?.event !== 'proposed') continue
    const isLate = event.writtenAt - (event.blockAt ?? event.writtenAt) > Math.max(LATE_MS, LATE_SHARE * lasted)
    return !isLate && (block === undefined || Number(event.seqNum) - block > STALLED_CHAIN_BLOCKS)
  }
  return true
}

const parseLine = (message: string | null) => {
  if (message === null || !message.includes('block_ts_ms')) return null
  try {
    return parseLedgerLine(message)
  } catch {
    return null // the collector reports it when it reads the line
  }
}
