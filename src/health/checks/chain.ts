import { figure, joinList, shortDuration } from '../../core/format.ts'
import { hour, second } from '../../core/units.ts'
import { isSyncing } from '../../core/agreement.ts'
import { blockAge, isAdvancing, isNodeDown, newestBlock, statesyncDone } from '../facts.ts'
import { type Check, finding, type HealthInput } from '../finding.ts'
import { above, below, LIMITS, USUAL_RATE } from '../limits.ts'
import type { SampleIndex } from '../../core/metric.ts'

/** The node fetches state. It has no blocks and no RPC meanwhile, which is no fault as long as statesync progresses. */
export const statesync: Check = ({ known, at }) => {
  if (!isSyncing(known) || isNodeDown(known, 'bft', 'execution')) return []
  const moved = known.value('chain_statesync_last_progress_timestamp_seconds')
  const stalledFor = moved === undefined ? undefined : at / second - moved
  const bad = above(stalledFor, LIMITS.statesyncStalled)
  const done = statesyncDone(known)
  const eta = known.value('chain_statesync_eta_seconds')
  const evidence = [
    ...(done === undefined ? [] : [`${(done * 100).toFixed(1)}% is complete.`]),
    ...(eta === undefined ? [] : [`Time left at this rate: ${shortDuration(eta * second)}.`]),
  ]
  if (bad) {
    return [
      finding(
        'ChainStatesyncFrozen',
        {
          severity: bad,
          says: `statesync has not progressed for ${shortDuration((stalledFor ?? 0) * second)}`,
        },
        { evidence, advice: ['See how to recover: `chain-agent recover`.'] },
      ),
    ]
  }
  // Rounded to five percent; the evidence has the exact value.
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

/** The node has new blocks, without delay. */
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
        { severity: old, says: `no new block for ${shortDuration((age ?? 0) * second)}` },
        {
          evidence: [
            ...newest(evidence),
            ...(known.value('chain_native_upstream_validators') === 0 ? ['No validator feeds this node.'] : []),
            ...rebooted(evidence),
            ...(difference === undefined
              ? []
              : [
                  `The network is ${figure(difference)} blocks ahead${difference > 5 ? ': it still produces blocks' : ''}.`,
                ]),
          ],
          advice: [
            'Analyse the consensus log: `chain-agent monlog`.',
            'See how to recover, and how much time is left: `chain-agent recover`.',
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
            ? `the newest block is ${shortDuration((age ?? 0) * second)} old`
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

/** After a boot all services may run although no block arrives. */
const rebooted = ({ known, at }: HealthInput): readonly string[] => {
  const booted = known.value('chain_host_boot_timestamp_seconds')
  const ago = booted === undefined ? undefined : at - booted * second
  return ago !== undefined && ago < REBOOT_MS
    ? [`The host was booted ${shortDuration(ago)} ago: see \`chain-agent runbook ChainRebootedNotSyncing\`.`]
    : []
}

const REBOOT_MS = hour

const unknownBlock = finding(
  'ChainBlind',
  { severity: 'unknown', says: 'whether the chain advances is unknown' },
  { evidence: ['Neither the RPC nor the ledger stream reports a block.'] },
)

const newest = ({ known }: HealthInput): readonly string[] => {
  const block = newestBlock(known)
  return block ? [`The newest block of the node is ${figure(block.height)}.`] : []
}

/** Rounded to two digits: 123 is about 120. */
const about = (value: number): number => Number(value.toPrecision(2))

/** How long peers can still serve the node block by block. */
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
            : [`At the rate of the chain it closes in ${shortDuration(seconds * second)}.`],
        advice: ['See how to recover, and how much time is left: `chain-agent recover`.'],
      },
    ),
  ]
}

/** The RPC should answer whenever the node is in sync. */
export const rpc: Check = ({ known, readings }) => {
  if (known.value('chain_rpc_up') !== 0) return []
  if (isSyncing(known) || isNodeDown(known, 'bft', 'execution', 'rpc')) return []
  const runs = known.value('chain_service_active', { service: 'rpc' }) === 1
  const { reason = null, detail = null } = readings.rpc?.up === false ? readings.rpc : {}
  // A single request that timed out does not show that the RPC is down.
  const isLate = reason === 'timeout'
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
        evidence: detail === null ? [] : [detail],
        advice: [
          ...(isLate ? ['Run the check again: on a busy host the RPC answers late.'] : []),
          'See its log: `chain-agent logs rpc`.',
        ],
      },
    ),
  ]
}

const MISSING: Readonly<Record<string, string>> = {
  version: 'The running version is too old for it',
  timeline: 'The database has no page-encoded timeline',
}

/** Requirements of the next forks that the node does not meet. */
export const forks: Check = ({ known, at }) =>
  known.series('chain_fork_activation_timestamp_seconds').flatMap(({ labels, value }) => {
    const fork = labels['fork'] ?? ''
    const missing = known
      .series('chain_fork_ready')
      .filter((one) => one.labels['fork'] === fork && one.value === 0)
      .map(({ labels: { check = '' } }) => check)
    const left = value - at / second
    const bad = below(left, LIMITS.fork)
    if (missing.length === 0 || !bad) return []
    const when = new Date(value * second).toISOString().slice(0, 16)
    return [
      finding(
        'ChainForkNotReady',
        {
          severity: bad,
          says:
            left > 0
              ? `the fork ${fork} is ${shortDuration(left * second)} away, and the node is not ready for it`
              : `the fork ${fork} has begun, and the node is not ready for it`,
        },
        {
          evidence: [
            `It begins at ${when}Z.`,
            ...missing.map((check) => `${MISSING[check] ?? check}.`),
            ...(missing.includes('version') ? [versionLine(known)] : []),
          ],
          advice: [
            missing.includes('version')
              ? known.value('chain_version_mismatch') === 1
                ? 'The installed version does not run yet: restart execution, consensus and RPC together. If the installed version is too old as well, upgrade the package first.'
                : 'Upgrade the package, then restart execution, consensus and RPC together.'
              : 'Migrate the database before the fork, as described in the release notes.',
            'See versions and forks: `chain-agent status versions`.',
          ],
        },
      ),
    ]
  })

/** The installed version does not run yet. */
export const versions: Check = ({ known }) =>
  known.value('chain_version_mismatch') !== 1
    ? []
    : [
        finding(
          'ChainRestartPending',
          { severity: 'info', says: 'the installed version does not run yet' },
          {
            evidence: [versionLine(known)],
            advice: ['Restart execution, consensus and RPC together at a convenient time.'],
          },
        ),
      ]

const versionLine = (known: SampleIndex): string =>
  `Installed: ${joinList(versionsOf(known.series('chain_package_info'))) || 'unknown'}; running: ${joinList(versionsOf(known.series('chain_node_running_info'))) || 'unknown'}.`

const versionsOf = (series: readonly { readonly labels: Readonly<Record<string, string>> }[]) => [
  ...new Set(series.map(({ labels }) => labels['version'] ?? 'unknown')),
]
