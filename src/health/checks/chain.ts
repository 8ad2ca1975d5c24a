import { z } from 'zod'
import { hour, second } from '../../core/units.ts'
import { isSyncing } from '../../core/agreement.ts'
import { blockAge, isAdvancing, isNodeDown, newestBlock, statesyncDone } from '../facts.ts'
import type { Check } from '../finding.ts'
import { LIMITS, USUAL_RATE } from '../limits.ts'
import { figure, roughly } from '../words.ts'
import { above, below, finding } from './make.ts'

/** The node fetches state: no block, no RPC, and no fault as long as it moves. */
export const statesync: Check = ({ known, at }) => {
  if (!isSyncing(known) || isNodeDown(known, 'bft', 'execution')) return []
  const moved = known.value('chain_statesync_last_progress_timestamp_seconds')
  const stalledFor = moved === undefined ? undefined : at / second - moved
  const bad = above(stalledFor, LIMITS.statesyncStalled)
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
          says: `statesync has not moved for ${roughly((stalledFor ?? 0) * second)}`,
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
        says: `statesync is under way${about}; the node answers no requests until it ends`,
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
            ...(known.value('chain_native_upstream_validators') === 0
              ? ['No validator feeds this node.']
              : []),
            ...rebooted(evidence),
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

/** After a boot everything may run and nothing come. */
const rebooted = ({ known, at }: Parameters<Check>[0]): readonly string[] => {
  const booted = known.value('chain_host_boot_timestamp_seconds')
  const ago = booted === undefined ? undefined : at - booted * second
  return ago !== undefined && ago < REBOOT_MS
    ? [
        `The host was booted ${roughly(ago)} ago: see \`chain-agent runbook ChainRebootedNotSyncing\`.`,
      ]
    : []
}

const REBOOT_MS = hour

const unknownBlock = finding(
  'ChainBlockTimeUnknown',
  { severity: 'unknown', says: 'whether the chain advances cannot be told' },
  { evidence: ['Neither the RPC nor the ledger stream tells of a block.'] },
)

const newest = ({ known }: Parameters<Check>[0]): readonly string[] => {
  const block = newestBlock(known)
  return block ? [`The newest block of the node is ${figure(block.height)}.`] : []
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

const rpcSchema = z.object({ reason: z.string(), detail: z.string() })

/** The RPC should answer whenever the node is in step. */
export const rpc: Check = ({ known, collectors }) => {
  if (known.value('chain_rpc_up') !== 0) return []
  if (isSyncing(known) || isNodeDown(known, 'bft', 'execution', 'rpc')) return []
  const runs = known.value('chain_service_active', { service: 'rpc' }) === 1
  const { data } = rpcSchema.safeParse(collectors.find(({ name }) => name === 'rpc')?.reading)
  // One question that was answered late is no RPC that is down: whoever asks again knows more.
  const isLate = data?.reason === 'timeout'
  return [
    finding(
      'ChainRpcDown',
      {
        severity: isLate ? 'warning' : 'critical',
        says: isLate
          ? 'the RPC did not answer in time'
          : `the RPC does not answer${runs ? ', though its service runs' : ''}`,
      },
      {
        evidence: data ? [data.detail] : [],
        advice: [
          ...(isLate ? ['Ask again: a host that is busy answers late.'] : []),
          'See its log: `chain-agent logs rpc`.',
        ],
      },
    ),
  ]
}
