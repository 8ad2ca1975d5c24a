import { type StoredLog } from '../../store/store.ts'
import { accountsFor, canTell } from './bloom.ts'
import { byBlock, flawOf, type Told } from './complete.ts'
import { createEndsThere } from './ending.ts'
import { IngestError, RefusedError, TooLargeError } from './errors.ts'
import { type Head, parseLogs, type Run } from './parse.ts'
import { createReceipts } from './receipts.ts'
import { nonsense, type Rpc } from './rpc.ts'
import { understood } from './understood.ts'

export interface Gathered {
  /** All logs of each block, in order. */
  readonly logs: ReadonlyMap<number, readonly StoredLog[]>
  /** How many characters the node sent for them. */
  readonly size: number
}

/** All logs of these blocks, proved complete. Throws a TooLargeError where fewer blocks must be asked for. */
export type GatherLogs = (heads: readonly Head[], signal: AbortSignal) => Promise<Gathered>

interface LogsOptions {
  readonly rpc: Rpc
  /** Told of what was mended by asking in another way. */
  readonly mended: (error: IngestError) => void
  readonly notice: (line: string) => void
}

interface Flawed {
  readonly head: Head
  readonly told: Told
  readonly flaw: string
}

/** Up to so many blocks are asked for one by one, by their hashes: such an answer can not be of another fork. */
const BY_HASH = 4
/** So often the receipts may say that the filter of a header is wrong, before it is no more looked at. */
const FILTER_FAULTS = 3

export const createLogs = ({ rpc, mended, notice }: LogsOptions): GatherLogs => {
  const byReceipts = createReceipts(rpc)
  const endsThere = createEndsThere(rpc)
  const once = onceEach(notice)
  let filterFaults = 0

  const ask = async (filter: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const { result, size } = await rpc.one({ method: 'eth_getLogs', params: [filter] }, signal)
    return { runs: understood('logs', result, parseLogs), size }
  }

  const askRange = async (heads: readonly Head[], signal: AbortSignal) => {
    const [from = 0, to = 0] = [heads[0]?.number, heads.at(-1)?.number]
    return ask({ fromBlock: `0x${from.toString(16)}`, toBlock: `0x${to.toString(16)}` }, signal)
  }

  const askBlock = async (head: Head, signal: AbortSignal) => {
    try {
      return await ask({ blockHash: head.hash }, signal)
    } catch (error) {
      if (error instanceof RefusedError) return await askRange([head], signal)
      if (!(error instanceof TooLargeError)) throw error
      once('there are blocks with too many logs for one answer: their receipts are read')
      return { runs: await byReceipts(head, signal), size: 0 }
    }
  }

  /** What is missing at the end, where no number tells: the filter in the header does, or the receipts behind. */
  const endFlawOf = async (head: Head, { logs }: Told, signal: AbortSignal) => {
    const isBelieved = filterFaults < FILTER_FAULTS
    if (isBelieved && !accountsFor(head.bloom, logs)) return FILTER
    if (logs.length === 0 || (isBelieved && canTell(head.bloom))) return null
    const isEnd = await endsThere(head, logs, signal)
    if (isEnd === null) {
      once(
        'this node gives no receipts of single transactions: of a block with very many logs, none tells whether the last have come',
      )
    }
    return isEnd === false ? 'its receipts tell of logs that did not come' : null
  }

  const mend = async ({ head, told, flaw }: Flawed, signal: AbortSignal) => {
    mended(incomplete(head, flaw))
    const better = byBlock([head], await byReceipts(head, signal))?.get(head.number)
    const remains = better === undefined ? 'they are of another' : flawOf(head, better)
    if (better === undefined || remains !== null) {
      throw incomplete(head, `${remains}, in its receipts, too`)
    }
    // The chain's own logs are not in all receipts.
    if (!told.isMixed && told.logs.some(({ logIndex }) => logIndex >= better.logs.length)) {
      throw incomplete(head, 'its receipts tell of fewer')
    }
    if (flaw === FILTER && better.logs.length === told.logs.length) {
      filterFaults += 1
      if (filterFaults === FILTER_FAULTS) {
        notice(
          "the filters (logsBloom) in this node's headers are wrong: they are no more looked at",
        )
      }
    }
    return better.logs
  }

  const gather = async (heads: readonly Head[], signal: AbortSignal) => {
    if (heads.length > BY_HASH) return await askRange(heads, signal)
    const all = { runs: new Array<Run>(), size: 0 }
    for (const head of heads) {
      const { runs, size } = await askBlock(head, signal)
      all.runs.push(...runs)
      all.size += size
    }
    return all
  }

  return async (heads, signal) => {
    const { runs, size } = await gather(heads, signal)
    const all = byBlock(heads, runs)
    if (all === null) throw nonsense('understand logs', 'logs of the blocks asked for', '')
    const lastWithLogs = heads.findLast(({ number }) => all.get(number)?.logs.length !== 0)
    const logs = new Map<number, readonly StoredLog[]>()
    for (const head of heads) {
      const told = all.get(head.number) ?? { logs: [], isMixed: false }
      // An answer that was cut short lacks the end of a block, and all of those that follow.
      const mustAccount = told.logs.length === 0 || head === lastWithLogs || heads.length <= BY_HASH
      const flaw = flawOf(head, told) ?? (mustAccount ? await endFlawOf(head, told, signal) : null)
      logs.set(head.number, flaw === null ? told.logs : await mend({ head, told, flaw }, signal))
    }
    return { logs, size }
  }
}

const FILTER = 'the filter in its header tells of logs that did not come'

const incomplete = ({ number }: Head, flaw: string): IngestError =>
  new IngestError('incomplete', {
    doing: 'read all logs of a block',
    happened: flaw,
    evidence: `block ${number}`,
  })

/** Of what holds for block after block, one line is enough. */
const onceEach = (notice: (line: string) => void): ((line: string) => void) => {
  const told = new Set<string>()
  return (line) => {
    if (!told.has(line)) notice(line)
    told.add(line)
  }
}
