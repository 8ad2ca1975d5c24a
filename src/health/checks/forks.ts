import type { SampleIndex } from '../../core/sample-index.ts'
import { second } from '../../core/units.ts'
import type { Check } from '../finding.ts'
import { LIMITS } from '../limits.ts'
import { list, roughly } from '../words.ts'
import { below, finding } from './make.ts'

const LACKS: Readonly<Record<string, string>> = {
  version: 'the version that it asks for does not run here',
  timeline: 'the database has no page-encoded timeline',
}

/** What the network will ask of the node soon, and the node does not have. */
export const forks: Check = ({ known, at }) =>
  known.series('chain_fork_activation_timestamp_seconds').flatMap(({ labels, value }) => {
    const fork = labels['fork'] ?? ''
    const lacking = known
      .series('chain_fork_ready')
      .filter((one) => one.labels['fork'] === fork && one.value === 0)
      .map(({ labels: { check = '' } }) => check)
    const left = value - at / second
    const bad = below(left, LIMITS.fork)
    if (lacking.length === 0 || !bad) return []
    const when = new Date(value * second).toISOString().slice(0, 16)
    return [
      finding(
        'ChainForkNotReady',
        {
          severity: bad,
          says:
            left > 0
              ? `the fork ${fork} is ${roughly(left * second)} away, and the node is not ready for it`
              : `the fork ${fork} has begun, and the node is not ready for it`,
        },
        {
          evidence: [
            `It begins at ${when}Z.`,
            ...lacking.map((check) => `${LACKS[check] ?? check}.`),
            ...(lacking.includes('version') ? [versionLine(known)] : []),
          ],
          advice: [
            lacking.includes('version')
              ? known.value('chain_version_mismatch') === 1
                ? 'What is installed does not run yet: restart execution, consensus and RPC together. If that is still too old, upgrade the package first.'
                : 'Upgrade the package, then restart execution, consensus and RPC together.'
              : 'Migrate the database before the fork, as the release notes say.',
            'See versions and forks: `chain-agent status versions`.',
          ],
        },
      ),
    ]
  })

/** Something newer is installed than runs. */
export const versions: Check = ({ known }) =>
  known.value('chain_version_mismatch') !== 1
    ? []
    : [
        finding(
          'ChainRestartPending',
          { severity: 'info', says: 'what is installed does not run yet' },
          {
            evidence: [versionLine(known)],
            advice: ['Restart execution, consensus and RPC together when it suits.'],
          },
        ),
      ]

const versionLine = (known: SampleIndex): string =>
  `Installed: ${list(versionsOf(known.series('chain_package_info'))) || 'unknown'}; running: ${list(versionsOf(known.series('chain_node_running_info'))) || 'unknown'}.`

const versionsOf = (series: readonly { readonly labels: Readonly<Record<string, string>> }[]) => [
  ...new Set(series.map(({ labels }) => labels['version'] ?? 'unknown')),
]
