import type { Chain } from '../chain/chain.ts'
import type { Block } from '../chain/happening.ts'
import { heightBefore, type Statesync } from '../scenario/statesync.ts'
import type { Timeline } from '../scenario/timeline.ts'
import { certificateOf } from './consensus-lines.ts'
import { type LogLine, short } from './log-line.ts'

const SECOND = 1000
/** The database waits for a first target so long, and is done so long before consensus begins. */
const WAITING_S = 5
const TAIL_S = 5

/** What consensus logs while the node needs statesync: a pure function of time. */
export const createStatesyncLog = (chain: Chain, timeline: Timeline) => {
  const syncs = timeline.changes.flatMap(({ before, after }) =>
    after.statesync && after.statesync !== before.statesync ? [after.statesync] : [],
  )
  return function* (fromMs: number, toMs: number): Generator<LogLine> {
    for (const statesync of syncs) {
      const start = Math.max(0, Math.ceil((fromMs - statesync.fromMs) / SECOND))
      const end = Math.floor((Math.min(toMs, statesync.untilMs) - statesync.fromMs) / SECOND)
      for (let second = start; second <= end; second += 1) {
        const atMs = statesync.fromMs + second * SECOND
        const condition = timeline.conditionAt(atMs)
        const runs = condition.services.bft.state === 'active'
        if (atMs > fromMs && runs && condition.statesync === statesync) {
          yield* linesOf(chain, statesync, second)
        }
      }
    }
  }
}

/** What is written in one second of a statesync. */
function* linesOf(chain: Chain, statesync: Statesync, second: number): Generator<LogLine> {
  const atMs = statesync.fromMs + second * SECOND
  const root = chain.headAt(statesync.fromMs)
  const lasts = Math.floor((statesync.untilMs - statesync.fromMs) / SECOND)
  const info = (message: string, fields: LogLine['fields'] & object): LogLine => ({
    atMs,
    level: 'INFO',
    target: 'state',
    message,
    fields,
  })
  if (second === 1) {
    yield info('starting up, syncing', {
      root: short(root.id),
      high_certificate: certificateOf(root),
    })
    yield {
      ...info(
        'local tip over 30000 blocks older than root. consider restoring from snapshot first',
        {
          latest_finalized_block: String(heightBefore(chain, statesync)),
          delay_seq_num: String(root.seqNum - 3n),
        },
      ),
      level: 'WARN',
    }
  } else if (second === lasts - TAIL_S) {
    const target = String(root.seqNum - 3n)
    yield info('done db statesync', { target, n: target })
  } else if (second === lasts) {
    yield info('done syncing, initializing consensus', {
      root_info: rootInfo(root),
      high_certificate: certificateOf(root),
    })
  } else if (second > 1 && second % 2 === 0) {
    const status = second < WAITING_S ? 'Waiting' : second < lasts - TAIL_S ? 'Started' : 'Done'
    yield info('still syncing...', {
      db_status: status,
      earliest_block: status === 'Waiting' ? 'None' : `Some(${root.seqNum - 260n})`,
      root_seq_num: status === 'Waiting' ? `Some(${root.seqNum})` : String(root.seqNum),
    })
  } else if (second > WAITING_S && second < lasts - TAIL_S && statesync.leftMs === undefined) {
    const from = chain.validators[second % chain.validators.length]?.publicKey ?? ''
    const message = 'statesync client thread applied response'
    const fields = { elapsed: '1.204312ms', from, response: 'StateSyncResponse { .. }' }
    yield { atMs, level: 'DEBUG', target: 'statesync_executor::client', message, fields }
  }
}

const rootInfo = ({ round, seqNum, epoch, id, timeMs }: Block): string =>
  `RootInfo { round: ${round}, seq_num: ${seqNum}, epoch: ${epoch}, block_id: ${short(id)}, timestamp_ns: ${timeMs}000000 }`
