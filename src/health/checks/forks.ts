import type { SampleIndex } from '../../core/metric.ts'
import { second } from '../../core/units.ts'
import { type Check, finding } from '../finding.ts'
import { below, LIMITS } from '../limits.ts'
import { joinList, shortDuration } from '../format.ts'

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
