import { second } from '../../core/units.ts'
import { blockAge, isAdvancing, isNodeDown, isSyncing, statesyncDone } from '../facts.ts'
import type { Check } from '../finding.ts'
import { LIMITS, USUAL_RATE } from '../limits.ts'
import { figure, roughly } from '../words.ts'
import { above, below, finding } from './make.ts'

/** The node fetches state: no block, no RPC, and no fault as long as it moves. */
export const statesync: Check = ({ known, at }) => {
  if (!isSyncing(known) || isNodeDown(known, 'bft', 'execution')) return []
  const moved = known.value('chain_statesync_last_progress_timestamp_seconds')
  const stands = moved === undefined ? undefined : at / second - moved
  const bad = above(stands, LIMITS.statesyncStands)
  const done = statesyncDone(known)
  const eta = known.value('chain_statesync_eta_seconds')
  const evidence = [
    ...(done === undefined ? [] : [`${(done * 100).toFixed(1)}% of it is done.`]),
    ...(eta === undefined ? [] : [`At this pace it takes another ${roughly(eta * second)}.`]),
  ]
  if (bad) {
    return [
      finding(
        'ChainStatesyncFrozen',
        {
          severity: bad,
          says: `statesync has not moved for ${roughly((stands ?? 0) * second)}`,
        },
        { evidence, advice: ['See which way out is left: `chain-agent recover`.'] },
      ),
    ]
  }
  // To five percent: the exact figure stands in the evidence.
  const about = done === undefined ? '' : `, about ${Math.round(done * 20) * 5}% done`
  return [
    finding(
      'ChainStatesync',
      {
        severity: 'warning',
        says: `statesync is under way${about}; the node serves nobody until it ends`,
      },
      { evidence, advice: ['Wait, and watch it: `chain-agent status statesync --watch`.'] },
    ),
  ]
}

/** Blocks come, and come in time. */
export const blocks: Check = (evidence) => {
  const { known } = evidence
  if (isSyncing(known) || isNodeDown(known, 'bft', 'execution')) return []
  const age = blockAge(evidence)
  const difference = known.value('chain_block_difference')
  const isBehind = isAdvancing(evidence)
  const old = above(age, LIMITS.blockAge)
  if (old && !isBehind) {
    return [
      finding(
        'ChainBlockStalled',
        { severity: old, says: `no new block for ${roughly((age ?? 0) * second)}` },
        {
          evidence: [
            ...newest(evidence),
            ...(difference === undefined
              ? []
              : [
                  `The network is ${figure(difference)} blocks ahead${difference > 5 ? ': it goes on' : ''}.`,
                ]),
          ],
          advice: [
            'See what consensus says: `chain-agent monlog`.',
            'See which way out is left, and for how long: `chain-agent recover`.',
          ],
        },
      ),
    ]
  }
  const rate = known.value('chain_blocks_per_second') ?? USUAL_RATE
  const lateBy = difference === undefined ? undefined : difference / rate
  const late = above(lateBy, LIMITS.behind) ?? (difference === undefined ? old : undefined)
  if (!late) return age === undefined ? [unknownBlock] : []
  return [
    finding(
      'ChainBehind',
      {
        severity: late,
        says:
          difference === undefined
            ? `the newest block is ${roughly((age ?? 0) * second)} old`
            : `the node is about ${figure(about(difference))} blocks behind the network`,
      },
      {
        evidence: [
          ...newest(evidence),
          ...(difference === undefined ? [] : [`The difference is ${figure(difference)} blocks.`]),
        ],
        advice: ['See whether it catches up: `chain-agent status chain --watch`.'],
      },
    ),
  ]
}

const unknownBlock = finding(
  'ChainBlockTimeUnknown',
  { severity: 'unknown', says: 'whether the chain advances cannot be told' },
  { evidence: ['Neither the RPC nor the ledger stream tells of a block.'] },
)

const newest = ({ known }: Parameters<Check>[0]): readonly string[] => {
  const height =
    known.value('chain_rpc_block_number', { tag: 'latest' }) ??
    known.value('chain_ledger_seq_num', { event: 'proposed' })
  return height === undefined ? [] : [`The newest block of the node is ${figure(height)}.`]
}

/** To two digits: 123 is about 120. */
const about = (value: number): number => Number(value.toPrecision(2))

/** How long peers still serve the node block by block. */
export const blocksyncWindow: Check = ({ known }) => {
  if (isSyncing(known)) return []
  const left = known.value('chain_blocksync_window_remaining_blocks')
  const bad = below(left, LIMITS.windowBlocks)
  if (!bad || left === undefined) return []
  const seconds = known.value('chain_blocksync_window_remaining_seconds')
  return [
    finding(
      'ChainBlocksyncWindow',
      {
        severity: bad,
        says:
          left === 0
            ? 'the blocksync window is closed: a restart needs statesync'
            : `${figure(left)} blocks are left of the blocksync window`,
      },
      {
        evidence:
          seconds === undefined || left === 0
            ? []
            : [`At the rate of the chain it closes in ${roughly(seconds * second)}.`],
        advice: ['See what to do, and whether it is still in time: `chain-agent recover`.'],
      },
    ),
  ]
}

/** The RPC should answer whenever the node is in step. */
export const rpc: Check = ({ known, collectors }) => {
  if (known.value('chain_rpc_up') !== 0) return []
  if (isSyncing(known) || isNodeDown(known, 'bft', 'execution', 'rpc')) return []
  const runs = known.value('chain_service_active', { service: 'rpc' })
  const told = collectors.find(({ name }) => name === 'rpc')?.reading
  const detail =
    typeof told === 'object' && told !== null && 'detail' in told ? String(told.detail) : ''
  return [
    finding(
      'ChainRpcDown',
      {
        severity: 'critical',
        says: `the RPC does not answer${runs === 1 ? ', though its service runs' : ''}`,
      },
      {
        evidence: detail === '' ? [] : [detail],
        advice: ['See its log: `chain-agent logs rpc`.'],
      },
    ),
  ]
}
