import { parseLedgerLine } from './ledger-tail.ts'
import { parseRpcAnswer } from './rpc.ts'
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
]
