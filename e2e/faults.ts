interface Fault {
  readonly fault: string
  readonly alert: string
  readonly severity: 'critical' | 'warning'
  /** Lines of a scenario, without their time. */
  readonly lines: readonly string[]
  readonly fixes: readonly string[]
  /** Duration of the fault, in seconds. */
  readonly lastsS: number
  /** Size of the node's own file system, in megabytes. */
  readonly disk: number | undefined
  /** `health.role` of the agent. */
  readonly role: 'auto' | 'rpc'
}

/** The second in which each fault begins. */
export const FAULT_S = 20

/** `fault | alert | directives | directives that fix it | duration in seconds, if not 60`, all critical. */
const TABLE = `
stall        | ChainBlockStalled            | consensus stops               | consensus resumes
deadlock     | ChainBlockStalled.deadlock   | consensus stops               | consensus resumes   | 180
isolation    | ChainIsolated                | peers sessions 2              | peers sessions 350
no-votes     | ChainNotVoting               | votes stop                    | votes resume
own-timeouts | ChainLeaderTimeouts.in-a-row | node idles                    | node leads          | 90
left-set     | ChainLeftActiveSet           | stake is 0                    | stake is 310
behind       | ChainBehind                  | node behind 70                | node behind 0
window       | ChainBlocksyncWindow         | node behind 620               | node behind 0       | 240
rpc-down     | ChainRpcDown                 | rpc fails                     | rpc answers
crash        | ChainServiceDown.failed      | bft crashes SIGABRT           | bft starts
uninstalled  | ChainServiceDown.missing     | rpc vanishes                  | rpc starts
assertion    | ChainLogTrouble.aborted      | execution asserts             | execution starts
log-trouble  | ChainLogTrouble              | bft logs ERROR node failed to push to wal | bft calms
start        | ChainStartStalled            | node hangs                    | node starts         | 240
diverged     | ChainStateDiverged           | state diverges                | state agrees        | 90
finality     | ChainFinalityStalled         | finality stops                | finality resumes    | 120
halted       | ChainNetworkHalted           | network stops                 | network resumes     | 90
fork         | ChainForkNotReady            | mpt timelines legacy          | mpt timelines dual
chunks       | ChainStorageFull.free-chunks | storage used 97               | storage used 70
disk-full    | ChainDiskFull                | wal grows 63MB in 1s          | wal grows 2MB in 1s
drive-gone   | ChainDriveGone               | host nvme gone                | host nvme healthy
clock        | ChainClockDrift              | host clock 700ms              | host clock 1ms
reboot       | ChainBlockStalled.rebooted   | host reboots; consensus stops | consensus resumes   | 90
`

/** The maximum size of the write-ahead log, and some space for other files. */
const DISK_MB = 66

const phrases = (cell: string): string[] => cell.split(';').map((line) => line.trim())

export const FAULTS: readonly Fault[] = TABLE.trim()
  .split('\n')
  .map((row) => {
    const [fault = '', alert = '', lines = '', fixes = '', lasts = '60'] = row.split('|').map((cell) => cell.trim())
    return {
      fault,
      alert,
      severity: 'critical',
      lines: phrases(lines),
      fixes: phrases(fixes),
      lastsS: Number(lasts),
      disk: alert.startsWith('ChainDisk') ? DISK_MB : undefined,
      // A warning on a validator, as which the simulated node is detected.
      role: alert === 'ChainRpcDown' ? 'rpc' : 'auto',
    }
  })

/** Names of critical alerts that are not in the table, with the reason. */
export const WITHOUT_ROW: ReadonlyMap<string, string> = new Map([
  ['ChainAgentDown', 'has its own test: the agent is killed'],
  ['ChainAgentAbsent', 'has its own test: the target is removed from the discovery'],
  ['ChainIdentityTwice', 'has its own test: it needs two nodes'],
  [
    'ChainValidatorFlagged',
    'a flag changes with a block; the scenario left-set has it, and its rule is played by promtool',
  ],
  ['ChainStatesyncFrozen', 'half an hour without progress, by the clock: only promtool can wait for it'],
  ['ChainWatchedNodeSilent', 'a watcher on another host sees it: test/agent/watcher.test.ts'],
  ['ChainUptimeBudget', 'asks for an hour of history: only promtool can wait for it'],
])
