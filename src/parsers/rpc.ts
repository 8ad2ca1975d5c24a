import { z } from 'zod'
import { excerpt, ParseError } from '../core/errors.ts'
import { errorOf } from '../core/error-body.ts'
import { isObject, parseJson, withoutMinus } from '../core/json.ts'
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

/** A JSON-RPC quantity (`"0x1b4"`) as an integer, from a complete response. Throws a ParseError. */
export const parseRpcQuantity = (text: string): bigint => {
  const { data } = quantity.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a hex quantity like "0x1b4"', text)
  return data
}

/** 0x and up to 64 hex digits: 256 bits. */
const word = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(BigInt)
const amount = word.refine(isWithin('wei'))

/** An amount in wei, as returned by eth_getBalance. Throws a ParseError. */
export const parseRpcAmount = (text: string): bigint => {
  const { data } = amount.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'an amount like "0x1b4"', text)
  return data
}

const string = z.string()

/** A string result, as returned by web3_clientVersion and net_version. Throws a ParseError. */
export const parseRpcText = (text: string): string => {
  const { data } = string.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a string', text)
  return plainText(data, LIMITS.text.label)
}

const hexBytes = z.string().regex(/^0x(?:[0-9a-fA-F]{2})*$/)

/** The return value of a contract call, as hex digits without 0x. Throws a ParseError. */
export const parseRpcBytes = (text: string): string => {
  const { data } = hexBytes.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'bytes as hex digits', text)
  return data.slice(2).toLowerCase()
}

export interface Block {
  readonly number: bigint
  /** The block's timestamp in seconds since the epoch; null if it is impossible. */
  readonly timestamp: bigint | null
  /** In wei. Missing on a chain without EIP-1559. */
  readonly baseFeePerGas?: bigint | null | undefined
}

const block = z.object({
  number: quantity,
  timestamp: word.transform((value) => withinBounds('unixSeconds', value)),
  baseFeePerGas: word.transform((value) => withinBounds('u64', value)).nullish(),
})
const blockOrNull = block.nullable()

/** Height, timestamp and base fee of a block; null if the node does not have it. Throws a ParseError. */
export const parseRpcBlock = (text: string): Block | null => {
  const { data } = blockOrNull.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a block with number and timestamp', text)
  return data
}

const hash = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/)
  .transform((text) => text.toLowerCase())

const header = z.object({ number: quantity, hash, parentHash: hash, stateRoot: hash.nullish() }).nullable()

/** Hash, hash of the parent and state root of a block, in lower case; null if the node does not have it. Throws a ParseError. */
export const parseRpcHeader = (text: string): z.output<typeof header> => {
  const { data } = header.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a block with number, hash and parentHash', text)
  return data
}

const logs = z.array(z.object({ blockNumber: quantity, blockHash: hash }))

/** The blocks of the logs that eth_getLogs returns. Throws a ParseError. */
export const parseLogBlocks = (text: string): readonly { readonly number: bigint; readonly hash: string }[] => {
  const { data } = logs.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'logs with blockNumber and blockHash', text)
  return data.map(({ blockNumber, blockHash }) => ({ number: blockNumber, hash: blockHash }))
}

const hashed = z.object({ hash }).nullable()

/** The hash of a block in lower case; null if the node does not have the block. Throws a ParseError. */
export const parseRpcBlockHash = (text: string): string | null => {
  const { data } = hashed.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a block with a hash', text)
  return data?.hash ?? null
}

const proposed = z
  .object({
    miner: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/)
      .transform((text) => text.toLowerCase()),
  })
  .nullable()

/** The beneficiary of a block in lower case; null if the node does not have the block. Throws a ParseError. */
export const parseRpcBeneficiary = (text: string): string | null => {
  const { data } = proposed.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a block with a miner', text)
  return data?.miner ?? null
}

const errorResponse = z.object({
  error: z.object({
    // A number that JavaScript cannot represent exactly is left out instead of rounded.
    code: z.int().overwrite(withoutMinus).nullable().catch(null),
    message: z.string().transform((message) => plainText(message, LIMITS.text.error)),
  }),
})

/** Describes a response to an unknown request, for `chain-agent parse rpc`. */
export const parseRpcResponse = (text: string) => {
  let result: unknown
  try {
    result = parseRpcResult(text)
  } catch (error) {
    if (!(error instanceof RpcErrorResponse)) throw error
    const { data } = errorResponse.safeParse(parseJson(WHAT, text))
    return {
      kind: 'error',
      error: data?.error ?? { code: null, message: plainText(error.reported, LIMITS.text.error) },
    }
  }
  const number = quantity.safeParse(result)
  if (number.success) return { kind: 'quantity', value: number.data }
  const found = block.safeParse(result)
  if (found.success) return { kind: 'block', block: found.data }
  if (typeof result === 'string') return { kind: 'text', value: plainText(result, LIMITS.text.error) }
  return { kind: 'other', type: typeof result }
}

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
