import { parseTracking } from './time-sync.ts'
import { parseConsensusLine } from './consensus-log.ts'
import { parseExecutionLine } from './execution-log.ts'
import { checkKeyFile } from './keystore.ts'
import { parseLedgerLine } from './ledger-tail.ts'
import { parsePatternLine } from './log-patterns.ts'
import { parseMonlogReport } from './monlog.ts'
import { parseStorageReport } from './mpt.ts'
import { parseNodeVersion } from './node-version.ts'
import { parsePrometheusText } from './prometheus-text.ts'
import { parseRpcResponse } from './rpc.ts'
import { parseDriveHealth } from './smartctl.ts'
import { parseListeners } from './sockets.ts'
import { parseStatusReport } from './status.ts'
import { parseUnits } from './systemctl.ts'

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
  /** Throws a ParseError. */
  parse(text: string): unknown
}

export const formats: readonly Format[] = [
  { name: 'rpc', help: 'a JSON-RPC response', shape: 'document', parse: parseRpcResponse },
  { name: 'systemctl', help: 'the output of systemctl show', shape: 'document', parse: parseUnits },
  {
    name: 'ledger-tail',
    help: 'lines of the ledger stream',
    shape: 'lines',
    parse: parseLedgerLine,
  },
  {
    name: 'consensus-log',
    help: 'lines of the consensus log',
    shape: 'lines',
    parse: parseConsensusLine,
  },
  {
    name: 'execution-log',
    help: 'lines of the execution log',
    shape: 'lines',
    parse: parseExecutionLine,
  },
  {
    name: 'log-patterns',
    help: 'known problem lines of any log of the node',
    shape: 'lines',
    parse: parsePatternLine,
  },
  {
    name: 'chain-mpt',
    help: "the storage tool's report, every layout since 2024",
    shape: 'document',
    parse: parseStorageReport,
  },
  {
    name: 'chain-status',
    help: "the node's own status report",
    shape: 'document',
    parse: parseStatusReport,
  },
  {
    name: 'node-version',
    help: 'the output of --version of a node program',
    shape: 'document',
    parse: parseNodeVersion,
  },
  {
    name: 'prometheus',
    help: 'metrics in the Prometheus text format or OpenMetrics',
    shape: 'document',
    parse: parsePrometheusText,
  },
  {
    name: 'keystore',
    help: 'whether a keystore or key backup is complete; its content is never shown',
    shape: 'document',
    parse: checkKeyFile,
  },
  {
    name: 'chrony',
    help: 'the output of chronyc -c tracking',
    shape: 'document',
    // Without the current time: the text may be from another day.
    parse: (text) => parseTracking(text),
  },
  {
    name: 'smartctl',
    help: 'the output of smartctl -j -a for an NVMe drive',
    shape: 'document',
    parse: parseDriveHealth,
  },
  {
    name: 'sockets',
    help: 'the listening sockets of /proc/net/tcp and tcp6',
    shape: 'document',
    parse: parseListeners,
  },
  {
    name: 'monlog',
    help: "the log analyzer's report",
    shape: 'document',
    parse: parseMonlogReport,
  },
]
