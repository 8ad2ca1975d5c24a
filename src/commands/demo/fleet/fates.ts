/** What becomes of a node of the fleet, and what it should show. */
export interface Fate {
  readonly name: string
  readonly description: string
  /** Lines of a scenario: it goes on as long as the fleet, so that a look at any time finds it. */
  readonly lines: readonly string[]
  /** What befalls the agent, or is done with its help. */
  readonly agent?: 'gone' | 'maintenance'
  /** Whether it signs with the key of another node, the first of the fleet. */
  readonly isTwin?: true
}

export const HEALTHY: Fate = { name: 'healthy', description: 'all is well', lines: [] }

/** When an agent leaves, and when maintenance is announced, after the node began. */
export const AGENT_AFTER_MS = 20_000

/**
 * The fate of the node with that number, from 1 on: every third has one of the table, the others are
 * well, and after a hundred it begins anew. A name has the same fate in every fleet, however large.
 */
export const fateOf = (number: number): Fate => {
  const place = ((number - 1) % 100) + 1
  return (place % 3 === 0 ? FATES[place / 3 - 1] : undefined) ?? HEALTHY
}

const fate = (name: string, description: string, ...lines: readonly string[]): Fate => ({
  name,
  description,
  lines,
})

/** In the order in which a small fleet should have them. */
const FATES: readonly Fate[] = [
  fate('behind', 'follows the network 40 blocks behind it', '0s node behind 40'),
  fate('stalled', 'every process runs, and no block comes', '30s consensus stops'),
  fate(
    'storage-filling',
    'the database fills up, from 79 to 97 percent in an hour',
    '0s storage used 79',
    '10s storage fills 97 in 60m',
  ),
  fate('own-timeouts', 'the rounds that it should lead time out', '0s node misses'),
  { ...fate('agent-gone', 'the agent ends; its target answers nothing'), agent: 'gone' },
  fate('not-voting', 'follows the network, and casts no vote', '0s votes stop'),
  fate('crashed', 'consensus is aborted, and nobody starts it', '30s bft crashes SIGABRT'),
  fate('fork-unready', 'runs 0.16.0; the next fork asks for 0.16.1', '0s package was 0.16.0'),
  {
    ...fate(
      'maintenance',
      'stopped for an upgrade that was announced',
      '30s bft stops',
      '30s execution stops',
      '30s rpc stops',
    ),
    agent: 'maintenance',
  },
  fate('statesync', 'needs statesync for an hour: no RPC, no blocks', '0s node syncs 60m'),
  fate('upgraded', 'runs the next version, 0.17.0', '0s package was 0.17.0'),
  fate(
    'restart-pending',
    'the next version is installed, and not running',
    '0s package upgraded 0.17.0',
  ),
  fate(
    'node-down',
    'consensus, execution and RPC are killed',
    '30s bft crashes SIGKILL',
    '30s execution crashes SIGKILL',
    '30s rpc crashes SIGKILL',
  ),
  fate('rpc-frozen', 'the RPC stays at one height, the node goes on', '30s rpc frozen'),
  fate('references-down', 'nobody tells whether it is behind', '0s reference fails'),
  fate(
    'far-behind',
    'follows the network 420 blocks behind it, of 600 that peers serve',
    '0s node behind 420',
  ),
  fate('storage-full', 'the database has no free chunk', '0s storage used 100'),
  fate('late-votes', 'one vote in a hundred takes 900 ms', '0s votes late 900ms'),
  fate(
    'slow-execution',
    'blocks take 60 ms instead of one or two',
    '0s execution slows 60ms',
    '0s execution retries 40',
  ),
  fate('left-active-set', 'has no stake any more', '0s stake is 0', '0s votes stop'),
  fate('isolated', 'knows its peers, and has sessions with two', '0s peers sessions 2'),
  fate('clock-drift', 'the clock is 300 ms ahead', '0s host clock 300ms'),
  fate('drive-hot', 'the drive of the database is too hot', '0s host nvme hot'),
  fate('port-exposed', 'the RPC listens on every interface', '0s host exposes 8080'),
  fate('backup-missing', 'the backup of a key is gone', '0s key secp-backup vanishes'),
  fate('rebooted', 'the host reboots in the second minute', '2m host reboots'),
  fate('journal-forbidden', 'the agent may not read the journal', '30s journal forbids'),
  fate('info-only-log', 'the consensus log is set to INFO', '0s log speaks INFO'),
  { ...fate('twin', 'signs with the key of the first node'), isTwin: true },
  fate('rpc-refused', 'the RPC refuses, though its process runs', '30s rpc fails'),
  fate(
    'zombie-metrics',
    'consensus serves no metrics, the collector serves old ones',
    '0s otelcol keeps 3h',
    '30s native freezes',
    '30s native vanishes',
  ),
  fate(
    'deadlock',
    'validators upstream go, then no block comes',
    '0s peers upstream 0',
    '40s consensus stops',
  ),
  fate('wal-stopped', 'the write-ahead log has stopped in silence', '30s bft says wal_stopped'),
]
