import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ParseError } from '../../src/core/errors.ts'
import {
  parseHeight,
  parseRpcAmount,
  parseRpcBeneficiary,
  parseRpcBlock,
  parseRpcQuantity,
  parseRpcText,
  RpcErrorResponse,
} from '../../src/parsers/rpc.ts'

const answer = (result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id: 1, result })
const refusal = (message: string, code: number): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code, message } })

describe('a quantity', () => {
  test.each([
    ['0x0', 0n],
    ['0x3a6', 934n],
    ['0x00ff', 255n],
    ['0xfffffffffffffffe', 2n ** 64n - 2n],
  ])('%s is %d', (text, expected) => {
    expect(parseRpcQuantity(answer(text))).toBe(expected)
  })
  test.each([
    null,
    false,
    12,
    '12',
    '0x',
    '0x1g',
    '-0x1',
    '0x10000000000000000',
    '0xffffffffffffffff',
    { number: '0x1' },
    undefined,
  ])('%j is none', (result) => {
    expect(() => parseRpcQuantity(answer(result))).toThrow(ParseError)
  })
})

test.each([null, 12, '0x', `0x1${'0'.repeat(64)}`])('%j is no amount', (result) => {
  expect(() => parseRpcAmount(answer(result))).toThrow(ParseError)
})

test('an error response throws RpcErrorResponse, whatever its code, which differs between versions', () => {
  expect(() => parseRpcQuantity(refusal('Method not found', -32_601))).toThrow(RpcErrorResponse)
  expect(() => parseRpcQuantity(refusal('overloaded, try again later', 5))).toThrowErrorMatchingInlineSnapshot(`
    [RpcErrorResponse: Could not parse the response to a JSON-RPC request: expected a result, got the error "overloaded, try again later"
      input: {"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"overloaded, try again later"}}]
  `)
})

test.each([
  ['{"error":"daily quota exceeded"}', 'daily quota exceeded'],
  ['{"error":{"code":429,"details":"slow down"}}', 'slow down'],
  ['{"message":"no API key found in request"}', 'no API key found in request'],
  ['{"result":null,"error":"no"}', 'no'],
])('%s is an error of another form', (text, reported) => {
  for (const parse of [parseRpcQuantity, parseRpcBlock, parseHeight]) {
    expect(() => parse(text)).toThrow(expect.objectContaining({ name: 'RpcErrorResponse', reported }))
  }
})

test.each(['', 'null', '[]', '{}', '<html>502</html>', '{"jsonrpc":"2.0","id":1}', '{"result":"0x1"'])(
  '%j is no answer',
  (text) => {
    expect(() => parseRpcQuantity(text)).toThrow(ParseError)
    expect(() => parseRpcQuantity(text)).not.toThrow(RpcErrorResponse)
  },
)

test('a block needs number and time; null is a block that the node does not have', () => {
  const block = { number: '0x10', timestamp: '0x6aa03a00', hash: '0xab', transactions: ['0x1'] }
  expect(parseRpcBlock(answer(block))).toEqual({ number: 16n, timestamp: 1_788_885_504n })
  expect(parseRpcBlock(answer(null))).toBeNull()
  expect(() => parseRpcBlock(answer({ number: '0x10' }))).toThrow(ParseError)
  expect(() => parseRpcBlock(answer('0x10'))).toThrow(ParseError)
})

test('the beneficiary of a block, in lower case', () => {
  expect(parseRpcBeneficiary(answer({ number: '0x10', miner: `0x${'aB'.repeat(20)}` }))).toBe(`0x${'ab'.repeat(20)}`)
  expect(parseRpcBeneficiary(answer(null))).toBeNull()
  for (const miner of [undefined, null, '0x', 'ab'.repeat(20), `0x${'ab'.repeat(21)}`])
    expect(() => parseRpcBeneficiary(answer({ number: '0x10', miner }))).toThrow(ParseError)
})

test('a text', () => {
  expect(parseRpcText(answer('Name/0.14.2'))).toBe('Name/0.14.2')
  expect(() => parseRpcText(answer(143))).toThrow(ParseError)
})

test('texts of the other side are short, on one line, without control characters', () => {
  expect(parseRpcText(answer(`v1\u001B[31m\n${'x'.repeat(7_000_000)}`))).toBe(`v1 ${'x'.repeat(253)}`)
  const text = refusal(`password=hunter2 \u001B]0;title\u0007${'x y '.repeat(5000)}`, 1)
  expect(() => parseRpcQuantity(text)).toThrow(RpcErrorResponse)
  try {
    parseRpcQuantity(text)
  } catch (thrown) {
    const { message, summary } = z.object({ message: z.string(), summary: z.string() }).parse(thrown)
    expect([message, summary].join()).not.toMatch(/hunter2|[^\P{Cc}\n]/u)
    expect(summary.length).toBeLessThan(400)
  }
})

test('the height of a query service; null while it has none is not a height', () => {
  expect(parseHeight('{"height":61240118}')).toBe(61_240_118n)
  expect(parseHeight('{"height":5,"error":null}')).toBe(5n)
  for (const text of ['{"height":null}', '{"height":-1}', '{"height":"5"}', '{"height":1.5}', '{}', '5', '']) {
    expect(() => parseHeight(text)).toThrow(ParseError)
  }
})
