interface Fault {
  readonly fault: string
  readonly alert: string
  readonly severity: 'critical' | 'warning'
  /** Lines of a scenario, without their time. */
  readonly lines: readonly string[]
  readonly mended: readonly string[]
}

/** The second in which each fault begins. */
export const FAULT_S = 35

/** `fault | alert | what happens | how it is mended`, all critical. */
const TABLE = `
stall          | ChainBlockStalled        | consensus stops          | consensus resumes
deadlock       | ChainConsensusDeadlock   | consensus stops          | consensus resumes
isolation      | ChainIsolated            | peers sessions 2         | peers sessions 350
no-votes       | ChainNotVoting           | votes stop               | votes resume
behind         | ChainBehind              | node behind 200          | node behind 0
window         | ChainBlocksyncWindow     | node behind 420          | node behind 0
rpc-down       | ChainRpcDown             | rpc stops                | rpc starts
crash          | ChainServiceDown         | bft crashes SIGABRT      | bft starts
full           | ChainStorageFull         | storage used 90          | storage used 70
drive          | ChainDriveFailing        | host nvme failing        | host nvme well
clock          | ChainClockDrift          | host clock 400ms         | host clock 1ms
fd-limit       | ChainFileDescriptorLimit | host fdlimit 1024        | host fdlimit 524288
backup         | ChainKeyFileMissing      | key secp-backup vanishes | key secp-backup returns
`

export const FAULTS: readonly Fault[] = TABLE.trim()
  .split('\n')
  .map((row) => {
    const [fault = '', alert = '', line = '', mended = ''] = row
      .split('|')
      .map((cell) => cell.trim())
    return { fault, alert, severity: 'critical', lines: [line], mended: [mended] }
  })
