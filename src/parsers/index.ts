import { parseTracking } from './chrony.ts'
import { parseConsensusLine } from './consensus-log.ts'
import { parseExecutionLine } from './execution-log.ts'
import { judgeKeyFile } from './keystore.ts'
import { parseLedgerLine } from './ledger-tail.ts'
import { parseLogLine } from './log-patterns.ts'
import { parseMonlogReport } from './monlog.ts'
import { parseStorageReport } from './mpt.ts'
import { parseNodeVersion } from './node-version.ts'
import { parsePrometheusText } from './prometheus-text.ts'
import { parseRpcAnswer } from './rpc.ts'
import { parseDriveHealth } from './smartctl.ts'
import { parseListeners } from './sockets.ts'
import { parseStatusReport } from './status.ts'
import { parseUnits } from './systemctl.ts'

/** A format that `chain-agent parse` reads. */
export interface Format {
  readonly name: string
  /** One line for the help. */
  readonly help: string
  /** `document`: the whole text is one thing. `lines`: each line is one, and null is not of this format. */
  readonly shape: 'document' | 'lines'
  /** Throws a ParseError. */
  parse(text: string): unknown
}

export const formats: readonly Format[] = [
  { name: 'rpc', help: 'an answer of the JSON-RPC', shape: 'document', parse: parseRpcAnswer },
  { name: 'systemctl', help: 'what systemctl show prints', shape: 'document', parse: parseUnits },
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
    help: 'lines of the log of execution',
    shape: 'lines',
    parse: parseExecutionLine,
  },
  {
    name: 'log-patterns',
    help: 'lines that mean trouble, of any log of the node',
    shape: 'lines',
    parse: parseLogLine,
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
    help: 'what --version of a program of the node prints',
    shape: 'document',
    parse: parseNodeVersion,
  },
  {
    name: 'prometheus',
    help: 'metrics in the text format of Prometheus, or OpenMetrics',
    shape: 'document',
    parse: parsePrometheusText,
  },
  {
    name: 'keystore',
    help: 'whether a keystore or the backup of a key is whole; its content is never shown',
    shape: 'document',
    parse: judgeKeyFile,
  },
  {
    name: 'chrony',
    help: 'what chronyc -c tracking prints',
    shape: 'document',
    // Judged by itself: it may be of another day.
    parse: (text) => parseTracking(text),
  },
  {
    name: 'smartctl',
    help: 'what smartctl -j -a prints of an NVMe drive',
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
