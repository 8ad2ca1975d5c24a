import { parseConsensusLine } from './consensus-log.ts'
import { parseLedgerLine } from './ledger-tail.ts'
import { parseMonlogReport } from './monlog.ts'
import { parseStorageReport } from './mpt.ts'
import { parseNodeVersion } from './node-version.ts'
import { parseRpcAnswer } from './rpc.ts'
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
    name: 'monlog',
    help: "the log analyzer's report",
    shape: 'document',
    parse: parseMonlogReport,
  },
]
