import { LIMITS } from '../core/limits.ts'

const { exposition, journal, keyFile, set, socketTable, tool } = LIMITS

/** An input format of `chain-agent parse`. */
export interface Format {
  readonly name: string
  /** One line for the help. */
  readonly help: string
  /**
   * `document`: the whole text is one value. `lines`: each line is one value; null means that the line is not of this
   * format.
   */
  readonly shape: 'document' | 'lines'
  /** The longest text that the agent gives to the parser: a document, or a line. */
  readonly length: number
  /** The most CPU time that such a text takes, in milliseconds on a core at 2.6 GHz: test/parsers/budgets.test.ts. */
  readonly cpuMs: number
  /** Loads its parser, which throws a ParseError. */
  readonly load: () => Promise<(text: string) => unknown>
}

const LOADERS = {
  systemctl: async () => (await import('./systemctl.ts')).parseUnits,
  'ledger-tail': async () => (await import('./ledger-tail.ts')).parseLedgerLine,
  'consensus-log': async () => (await import('./consensus-log.ts')).parseConsensusLine,
  'execution-log': async () => (await import('./execution-log.ts')).parseExecutionLine,
  'log-patterns': async () => (await import('./log-patterns/classify.ts')).parsePatternLine,
  'chain-mpt': async () => (await import('./mpt.ts')).parseStorageReport,
  'chain-status': async () => (await import('./status.ts')).parseStatusReport,
  'node-version': async () => (await import('./version.ts')).parseNodeVersion,
  prometheus: async () => (await import('./prometheus-text.ts')).parsePrometheusText,
  keystore: async () => (await import('./keystore.ts')).checkKeyFile,
  chrony: async () => {
    const { parseTracking } = await import('./time-sync.ts')
    // Without the current time: the text may be from another day.
    return (text: string) => parseTracking(text)
  },
  smartctl: async () => (await import('./smartctl.ts')).parseDriveHealth,
  sockets: async () => (await import('./kernel-files.ts')).parseListeners,
  validators: async () => (await import('./validators.ts')).parseValidatorSets,
} satisfies Readonly<Record<string, Format['load']>>

type Row = readonly [
  name: keyof typeof LOADERS,
  help: string,
  shape: Format['shape'],
  limits: readonly [length: number, cpuMs: number],
]

const ROWS: readonly Row[] = [
  ['systemctl', 'the output of systemctl show', 'document', [tool.outputBytes, 500]],
  ['ledger-tail', 'lines of the ledger stream', 'lines', [journal.messageLength, 50]],
  ['consensus-log', 'lines of the consensus log', 'lines', [journal.messageLength, 50]],
  ['execution-log', 'lines of the execution log', 'lines', [journal.messageLength, 100]],
  ['log-patterns', 'known problem lines of any log of the node', 'lines', [journal.messageLength, 50]],
  ['chain-mpt', "the storage tool's report, every layout since 2024", 'document', [tool.outputBytes, 600]],
  ['chain-status', "the node's own status report", 'document', [tool.outputBytes, 600]],
  ['node-version', 'the output of --version of a node program', 'document', [tool.outputBytes, 500]],
  ['prometheus', 'metrics in the Prometheus text format or OpenMetrics', 'document', [exposition.length, 200]],
  ['keystore', 'whether a keystore or key backup is complete, without content', 'document', [keyFile.bytes, 20]],
  ['chrony', 'the output of chronyc -c tracking', 'document', [tool.outputBytes, 100]],
  ['smartctl', 'the output of smartctl -j -a for an NVMe drive', 'document', [tool.outputBytes, 100]],
  ['sockets', 'the listening sockets of /proc/net/tcp and tcp6', 'document', [2 * socketTable.bytes, 100]],
  ['validators', 'the sets of validators of a node, validators.toml', 'document', [set.length, 300]],
]

export const formats: readonly Format[] = ROWS.map(([name, help, shape, [length, cpuMs]]) => {
  return { name, help, shape, length, cpuMs, load: LOADERS[name] }
})
