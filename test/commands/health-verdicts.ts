/**
 * The first line that an operator reads: a scenario, the second at which the command runs, the exact first line of
 * `check` and `status`, and the exit code of `check`. 0: healthy; 1: something needs attention; 2: the node does not do
 * its work, or its state is unknown.
 */
export interface Row {
  readonly name: string
  /** Lines of a scenario, or the name of one that is shipped. */
  readonly scenario: string
  /** Seconds from the start of the scenario to the run of the command. */
  readonly second: number
  readonly maintenance?: { readonly minutes: number }
  /** Whether an agent runs on the host. */
  readonly agent: boolean
  /** A host without a node: no unit, no tool, no port. */
  readonly hasNode?: false
  readonly summary: string
  readonly exitCode: 0 | 1 | 2
}

export const HEALTH_VERDICTS: readonly Row[] = [
  {
    name: 'healthy',
    scenario: 'healthy',
    second: 90,
    agent: true,
    summary: 'OK: the node keeps up with the chain.',
    exitCode: 0,
  },
  {
    name: 'stalled',
    scenario: 'stalled',
    second: 150,
    agent: true,
    summary: 'CRITICAL: the newest block of the node is too old.',
    exitCode: 2,
  },
  {
    name: 'lagging',
    scenario: 'lagging',
    second: 90,
    agent: true,
    summary: 'CRITICAL: the newest block of the node is too old.',
    exitCode: 2,
  },
  {
    name: 'statesync',
    scenario: 'statesync',
    second: 90,
    agent: true,
    summary: 'WARNING: the node is in statesync.',
    exitCode: 1,
  },
  {
    name: 'service-crash',
    scenario: 'service-crash',
    second: 60,
    agent: true,
    summary: 'CRITICAL: bft is down (failed).',
    exitCode: 2,
  },
  {
    // From 76% at the 30th second to 96% at the 330th.
    name: 'storage-filling',
    scenario: 'storage-filling',
    second: 340,
    agent: true,
    summary: 'CRITICAL: the database has too few free chunks.',
    exitCode: 2,
  },
  {
    // The fork is 24 h and 30 s after the start.
    name: 'fork-unready',
    scenario: 'upgrade-missed',
    second: 90,
    agent: false,
    summary: 'WARNING: the node is not ready for the fork aurora: version.',
    exitCode: 1,
  },
  {
    name: 'maintenance',
    scenario: '10s bft stops\n10s execution stops',
    second: 60,
    maintenance: { minutes: 30 },
    agent: true,
    summary: 'MAINTENANCE: upgrade, 30 min left; bft and execution are down.',
    exitCode: 0,
  },
  {
    name: 'no agent',
    scenario: 'healthy',
    second: 90,
    agent: false,
    summary: 'OK: the node keeps up with the chain.',
    exitCode: 1,
  },
  {
    name: 'no node',
    scenario: 'healthy',
    second: 90,
    agent: false,
    hasNode: false,
    summary: 'UNKNOWN: there is no node on this host, or none that this user can see.',
    exitCode: 2,
  },
  {
    name: 'no permission',
    scenario: '0s journal forbids',
    second: 90,
    agent: true,
    summary: 'WARNING: no readings from the collector lifecycle, ledger, consensus, execution and logs.',
    exitCode: 1,
  },
]
