import { z } from 'zod'
import { excerpt, ParseError } from '../core/errors.ts'
import { errorOf } from '../core/error-body.ts'
import { isObject, parseJson } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'
import { plainText } from '../core/redaction/redact.ts'
import { type Quantity, withinBounds } from '../core/bounds.ts'

/**
 * The node returned a JSON-RPC error: HTTP 200 with an error object. The codes differ between versions; only the
 * message is used.
 */
export class RpcErrorResponse extends ParseError {
  override name = 'RpcErrorResponse'
  /** What the server reported, not redacted. */
  readonly reported: string
  constructor(message: string, text: string) {
    super('the response to a JSON-RPC request', `a result, got the error "${excerpt(message)}"`, text)
    this.reported = message
  }
}

const WHAT = 'a JSON-RPC response'

/** The `result` of a response. Throws an RpcErrorResponse for an error response, a ParseError for anything else. */
const parseRpcResult = (text: string): unknown => {
  const value = parseJson(WHAT, text)
  throwReportedError(value, text)
  if (isObject(value) && Object.hasOwn(value, 'result')) return value['result']
  throw new ParseError(WHAT, 'an object with "result" or "error"', text)
}

/** Gateways in front of a node return errors of other forms than JSON-RPC: a text, or an object without `error`. */
const throwReportedError = (value: unknown, text: string): void => {
  const reason = errorOf(value, ['result', 'height'])
  if (reason !== undefined) throw new RpcErrorResponse(reason, text)
}

const isWithin = (quantity: Quantity) => (value: bigint) => withinBounds(quantity, value) !== null

/** 0x and up to 16 hex digits: 64 bits, without the sentinels. The node writes no leading zeros; other servers do. */
const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,16}$/)
  .transform(BigInt)
  .refine(isWithin('u64'))

/** A parser of responses with such a result. It throws an RpcErrorResponse or a ParseError. */
const resultParser =
  <T>(schema: z.ZodType<T>, expected: string) =>
  (text: string): T => {
    const { success, data } = schema.safeParse(parseRpcResult(text))
    if (!success) throw new ParseError(WHAT, expected, text)
    return data
  }

/** A JSON-RPC quantity (`"0x1b4"`) as an integer, from a complete response. */
export const parseRpcQuantity = resultParser(quantity, 'a hex quantity like "0x1b4"')

/** 0x and up to 64 hex digits: 256 bits. */
const word = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(BigInt)

/** An amount in wei, as returned by eth_getBalance. */
export const parseRpcAmount = resultParser(word.refine(isWithin('wei')), 'an amount like "0x1b4"')

/** A string result, as returned by web3_clientVersion and net_version. */
export const parseRpcText = resultParser(
  z.string().transform((text) => plainText(text, LIMITS.text.label)),
  'a string',
)

/** The return value of a contract call, as hex digits without 0x. */
export const parseRpcBytes = resultParser(
  z
    .string()
    .regex(/^0x(?:[0-9a-fA-F]{2})*$/)
    .transform((text) => text.slice(2).toLowerCase()),
  'bytes as hex digits',
)

export type Block = Readonly<z.output<typeof block>>

const block = z.object({
  number: quantity,
  /** The block's timestamp in seconds since the epoch; null if it is impossible. */
  timestamp: word.transform((value) => withinBounds('unixSeconds', value)),
  /** In wei. Missing on a chain without EIP-1559. */
  baseFeePerGas: word.transform((value) => withinBounds('u64', value)).nullish(),
})

/** Height, timestamp and base fee of a block; null if the node does not have it. */
export const parseRpcBlock = resultParser<Block | null>(block.nullable(), 'a block with number and timestamp')

/** 0x and this number of hex digits, in lower case. */
const hexDigits = (count: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${count}}$`))
    .transform((text) => text.toLowerCase())
const hash = hexDigits(64)

/** Hash, hash of the parent and state root of a block, in lower case; null if the node does not have it. */
export const parseRpcHeader = resultParser(
  z.object({ number: quantity, hash, parentHash: hash, stateRoot: hash.nullish() }).nullable(),
  'a block with number, hash and parentHash',
)

/** The blocks of the logs that eth_getLogs returns. */
export const parseLogBlocks = resultParser(
  z.array(
    z
      .object({ blockNumber: quantity, blockHash: hash })
      .transform(({ blockNumber, blockHash }) => ({ number: blockNumber, hash: blockHash })),
  ),
  'logs with blockNumber and blockHash',
)

/** The hash of a block in lower case; null if the node does not have the block. */
export const parseRpcBlockHash = resultParser(
  z
    .object({ hash })
    .nullable()
    .transform((found) => found?.hash ?? null),
  'a block with a hash',
)

/** The beneficiary of a block in lower case; null if the node does not have the block. */
export const parseRpcBeneficiary = resultParser(
  z
    .object({ miner: hexDigits(40) })
    .nullable()
    .transform((found) => found?.miner ?? null),
  'a block with a miner',
)

const HEIGHT = "the query service's height"
const heightResponse = z.object({ height: z.int().nonnegative() })

/**
 * The height in the response to GET /height. Throws a ParseError, also for null, which a service without a height
 * returns.
 */
export const parseHeight = (text: string): bigint => {
  const value = parseJson(HEIGHT, text)
  throwReportedError(value, text)
  const { data } = heightResponse.safeParse(value)
  if (!data) throw new ParseError(HEIGHT, '{"height": N}', text)
  return BigInt(data.height)
}
