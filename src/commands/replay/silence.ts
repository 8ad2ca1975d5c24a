import { second } from '../../core/units.ts'
import type { JournalEntry } from '../../parsers/journal.ts'
import { parseLedgerLine } from '../../parsers/ledger-tail.ts'

interface Silence {
  /** How long nothing was recorded, in milliseconds. */
  readonly lasted: number
  /** The first entries after it. */
  readonly after: readonly JournalEntry[]
  /** The newest block before it, and the boot. */
  readonly block: number | undefined
  readonly boot: string
  /** Whether consensus was down: the others have nothing to say then. */
  readonly isDown: boolean
}

/**
 * A block that is written so long after its own time was fetched by a node that had stalled: at least this, and at
 * least this share of the silence, since ledger-tail begins with blocks of the last minute when it is started.
 */
const LATE_MS = 10 * second
const LATE_SHARE = 0.1
/** So many blocks at most are missed where the whole chain had stalled. */
const FEW = 20

/**
 * Nothing is recorded for minutes: is the recording missing, or had the node nothing to say? A node that
 * stalled comes back with old blocks, or with the next one; where the first block is fresh, and many are
 * missing, the node went on, and nobody has kept what it said.
 */
export const isMissing = ({ lasted, after, block, boot, isDown }: Silence): boolean => {
  const id = after[0]?.fields['_BOOT_ID']
  if (id !== undefined && boot !== '' && id !== boot) return true
  if (isDown) return false
  for (const { message } of after) {
    const event = read(message)
    if (event?.event !== 'proposed') continue
    const isLate = event.writtenAt - event.blockAt > Math.max(LATE_MS, LATE_SHARE * lasted)
    return !isLate && (block === undefined || Number(event.seqNum) - block > FEW)
  }
  return true
}

const read = (message: string | null) => {
  if (message === null || !message.includes('block_ts_ms')) return null
  try {
    return parseLedgerLine(message)
  } catch {
    return null // told by the collector, when it comes to the line
  }
}
