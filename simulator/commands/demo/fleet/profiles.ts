/** The scenario of a node of the fleet, with a description of what it should show. */
export interface NodeProfile {
  readonly name: string
  readonly description: string
  /** Lines of a scenario. It lasts as long as the fleet, so that it is visible at any time. */
  readonly lines: readonly string[]
  /** What happens to the agent, or is done with it. */
  readonly agent?: 'gone' | 'maintenance'
  /** Whether it signs with the key of the first node of the fleet. */
  readonly isTwin?: true
}

export const HEALTHY: NodeProfile = { name: 'healthy', description: 'healthy', lines: [] }

/** When an agent stops, or a maintenance window is set, after the start of the node. */
export const AGENT_AFTER_MS = 20_000

/**
 * The profile of the node with that number, from 1 on: every third node has one of the table, the others are healthy,
 * and after a hundred the table repeats. A name has the same profile in every fleet, whatever its size.
 */
export const profileOf = (number: number): NodeProfile => {
  const position = ((number - 1) % 100) + 1
  return (position % 3 === 0 ? PROFILES[position / 3 - 1] : undefined) ?? HEALTHY
}

const profile = (name: string, description: string, ...lines: readonly string[]): NodeProfile => ({
  name,
  description,
  lines,
})

/** In the order in which a small fleet has them. */
const PROFILES: readonly NodeProfile[] = [
  profile('behind', 'follows the network 40 blocks behind it', '0s node behind 40'),
  profile('stalled', 'every process runs, but there is no new block', '30s consensus stops'),
  profile(
    'storage-filling',
    'the database fills up, from 79 to 97 percent in an hour',
    '0s storage used 79',
    '10s storage fills 97 in 60m',
  ),
  profile('own-timeouts', 'the rounds that it leads time out', '0s node misses'),
  { ...profile('agent-gone', 'the agent stops; its target does not respond'), agent: 'gone' },
  profile('not-voting', 'follows the network and does not vote', '0s votes stop'),
  profile('crashed', 'consensus aborts and is not restarted', '30s bft crashes SIGABRT'),
  profile('fork-unready', 'runs 0.16.0; the next fork requires 0.16.1', '0s package was 0.16.0'),
  {
    ...profile(
      'maintenance',
      'stopped for an upgrade, with a maintenance window',
      '30s bft stops',
      '30s execution stops',
      '30s rpc stops',
    ),
    agent: 'maintenance',
  },
  profile('statesync', 'needs statesync for an hour: no RPC, no blocks', '0s node syncs 60m'),
  profile('upgraded', 'runs the next version, 0.17.0', '0s package was 0.17.0'),
  profile('restart-pending', 'the next version is installed but not running', '0s package upgraded 0.17.0'),
  profile(
    'node-down',
    'consensus, execution and RPC are killed',
    '30s bft crashes SIGKILL',
    '30s execution crashes SIGKILL',
    '30s rpc crashes SIGKILL',
  ),
  profile('rpc-frozen', 'the RPC stays at one height, the node continues', '30s rpc frozen'),
  profile('references-down', 'no reference responds: its lag is unknown', '0s reference fails'),
  profile(
    'far-behind',
    'follows the network 620 blocks behind it, of 800 with which it can catch up',
    '0s node behind 620',
  ),
  profile('storage-full', 'the database has no free chunk', '0s storage used 100'),
  profile('late-votes', 'one vote in a hundred takes 900 ms', '0s votes late 900ms'),
  profile(
    'slow-execution',
    'blocks take 60 ms instead of one or two',
    '0s execution slows 60ms',
    '0s execution retries 40',
  ),
  profile('left-active-set', 'its stake is 0', '0s stake is 0', '0s votes stop'),
  profile('isolated', 'knows its peers but has sessions with only two', '0s peers sessions 2'),
  profile('clock-drift', 'the clock is 600 ms ahead', '0s host clock 600ms'),
  profile('drive-hot', 'the drive of the database is too hot', '0s host nvme hot'),
  profile('port-exposed', 'the RPC listens on every interface', '0s host exposes 8080'),
  profile('backup-missing', 'the backup of a key is gone', '0s key secp-backup vanishes'),
  profile('rebooted', 'the host reboots in the second minute', '2m host reboots'),
  profile('journal-forbidden', 'the agent may not read the journal', '30s journal forbids'),
  profile('info-only-log', 'the consensus log is set to INFO', '0s log prints INFO'),
  { ...profile('twin', 'signs with the key of the first node'), isTwin: true },
  profile('rpc-refused', 'the RPC refuses connections, though its process runs', '30s rpc fails'),
  profile(
    'zombie-metrics',
    'consensus serves no metrics, the OpenTelemetry collector serves old ones',
    '0s otelcol keeps 3h',
    '30s native freezes',
    '30s native vanishes',
  ),
  profile(
    'deadlock',
    'upstream validators disconnect, then no new block',
    '0s peers upstream 0',
    '40s consensus stops',
  ),
  profile('wal-stopped', 'the trace of events has stopped, only the log shows it', '30s bft repeats wal_stopped 250'),
]
