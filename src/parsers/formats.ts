import { LIMITS } from '../core/limits.ts'

const { exposition, journal, keyFile, response, set, socketTable, tool } = LIMITS

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

export const formats: readonly Format[] = [
  {
    name: 'rpc',
    help: 'a JSON-RPC response',
    shape: 'document',
    length: response.blockBytes,
    cpuMs: 100,
    load: async () => (await import('./rpc.ts')).parseRpcResponse,
  },
  {
    name: 'systemctl',
    help: 'the output of systemctl show',
    shape: 'document',
    length: tool.outputBytes,
    cpuMs: 500,
    load: async () => (await import('./systemctl.ts')).parseUnits,
  },
  {
    name: 'ledger-tail',
    help: 'lines of the ledger stream',
    shape: 'lines',
    length: journal.messageLength,
    cpuMs: 50,
    load: async () => (await import('./ledger-tail.ts')).parseLedgerLine,
  },
  {
    name: 'consensus-log',
    help: 'lines of the consensus log',
    shape: 'lines',
    length: journal.messageLength,
    cpuMs: 50,
    load: async () => (await import('./consensus-log.ts')).parseConsensusLine,
  },
  {
    name: 'execution-log',
    help: 'lines of the execution log',
    shape: 'lines',
    length: journal.messageLength,
    cpuMs: 100,
    load: async () => (await import('./execution-log.ts')).parseExecutionLine,
  },
  {
    name: 'log-patterns',
    help: 'known problem lines of any log of the node',
    shape: 'lines',
    length: journal.messageLength,
    cpuMs: 50,
    load: async () => (await import('./log-patterns/classify.ts')).parsePatternLine,
  },
  {
    name: 'chain-mpt',
    help: "the storage tool's report, every layout since 2024",
    shape: 'document',
    length: tool.outputBytes,
    cpuMs: 600,
    load: async () => (await import('./mpt.ts')).parseStorageReport,
  },
  {
    name: 'chain-status',
    help: "the node's own status report",
    shape: 'document',
    length: tool.outputBytes,
    cpuMs: 600,
    load: async () => (await import('./status.ts')).parseStatusReport,
  },
  {
    name: 'node-version',
    help: 'the output of --version of a node program',
    shape: 'document',
    length: tool.outputBytes,
    cpuMs: 500,
    load: async () => (await import('./version.ts')).parseNodeVersion,
  },
  {
    name: 'prometheus',
    help: 'metrics in the Prometheus text format or OpenMetrics',
    shape: 'document',
    length: exposition.length,
    cpuMs: 200,
    load: async () => (await import('./prometheus-text.ts')).parsePrometheusText,
  },
  {
    name: 'keystore',
    help: 'whether a keystore or key backup is complete, without content',
    shape: 'document',
    length: keyFile.bytes,
    cpuMs: 20,
    load: async () => (await import('./keystore.ts')).checkKeyFile,
  },
  {
    name: 'chrony',
    help: 'the output of chronyc -c tracking',
    shape: 'document',
    length: tool.outputBytes,
    cpuMs: 100,
    load: async () => {
      const { parseTracking } = await import('./time-sync.ts')
      // Without the current time: the text may be from another day.
      return (text) => parseTracking(text)
    },
  },
  {
    name: 'smartctl',
    help: 'the output of smartctl -j -a for an NVMe drive',
    shape: 'document',
    length: tool.outputBytes,
    cpuMs: 100,
    load: async () => (await import('./smartctl.ts')).parseDriveHealth,
  },
  {
    name: 'sockets',
    help: 'the listening sockets of /proc/net/tcp and tcp6',
    shape: 'document',
    length: 2 * socketTable.bytes,
    cpuMs: 100,
    load: async () => (await import('./kernel-files.ts')).parseListeners,
  },
  {
    name: 'validators',
    help: 'the sets of validators of a node, validators.toml',
    shape: 'document',
    length: set.length,
    cpuMs: 300,
    load: async () => (await import('./validators.ts')).parseValidatorSets,
  },
  {
    name: 'monlog',
    help: "the log analyzer's report",
    shape: 'document',
    length: tool.outputBytes,
    cpuMs: 1500,
    load: async () => (await import('./monlog.ts')).parseMonlogReport,
  },
]
