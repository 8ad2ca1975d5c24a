import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { SENTINEL } from '../core/units.ts'
import { parseJson } from './json.ts'

/** The node said no: HTTP 200 and an error inside. Codes differ between versions; only the words count. */
export class RpcRefusal extends ParseError {
  override name = 'RpcRefusal'
  constructor(message: string, text: string) {
    super('the answer to a JSON-RPC request', `a result, got the error "${message}"`, text)
  }
}

const WHAT = 'an answer of JSON-RPC'

const envelope = z.union([
  z.object({ error: z.object({ message: z.string() }) }),
  z.object({ result: z.unknown() }),
])

/** The `result` of an answer. Throws an RpcRefusal for an error answer, a ParseError for anything else. */
const parseRpcResult = (text: string): unknown => {
  const { data } = envelope.safeParse(parseJson(WHAT, text))
  if (!data) throw new ParseError(WHAT, 'an object with "result" or "error"', text)
  if ('error' in data) throw new RpcRefusal(data.error.message, text)
  if (!('result' in data)) throw new ParseError(WHAT, 'an object with "result" or "error"', text)
  return data.result
}

/** 0x and up to 16 hex digits: 64 bits, without the sentinel. The node writes no leading zeros, others do. */
const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,16}$/)
  .transform(BigInt)
  .refine((value) => value !== SENTINEL)

/** A JSON-RPC quantity (`"0x1b4"`) as an integer, from a whole answer. Throws a ParseError. */
export const parseRpcQuantity = (text: string): bigint => {
  const { data } = quantity.safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a hex quantity like "0x1b4"', text)
  return data
}

/** A text result, as of web3_clientVersion and net_version. Throws a ParseError. */
export const parseRpcText = (text: string): string => {
  const { data } = z.string().safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a text', text)
  return data
}

/** What a call of a contract gave back, as its hex digits without 0x. Throws a ParseError. */
export const parseRpcBytes = (text: string): string => {
  const { data } = z
    .string()
    .regex(/^0x(?:[0-9a-fA-F]{2})*$/)
    .safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'bytes as hex digits', text)
  return data.slice(2).toLowerCase()
}

export interface Block {
  readonly number: bigint
  /** Seconds since the epoch, as the block itself says. */
  readonly timestamp: bigint
}

const block = z.object({ number: quantity, timestamp: quantity })

/** Height and time of a block; null when the node does not have it. Throws a ParseError. */
export const parseRpcBlock = (text: string): Block | null => {
  const { data } = block.nullable().safeParse(parseRpcResult(text))
  if (data === undefined) throw new ParseError(WHAT, 'a block with number and timestamp', text)
  return data
}

/** What an answer says when nobody knows what was asked: for `chain-agent parse rpc`. */
export const parseRpcAnswer = (text: string) => {
  let result: unknown
  try {
    result = parseRpcResult(text)
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error
    const refusal = z.object({
      error: z.object({ code: z.number().nullish(), message: z.string() }),
    })
    const { error: said } = refusal.parse(JSON.parse(text))
    return { kind: 'error', error: { code: said.code ?? null, message: said.message } }
  }
  const number = quantity.safeParse(result)
  if (number.success) return { kind: 'quantity', value: number.data }
  const found = block.safeParse(result)
  if (found.success) return { kind: 'block', block: found.data }
  if (typeof result === 'string') return { kind: 'text', value: result }
  return { kind: 'other', type: typeof result }
}
