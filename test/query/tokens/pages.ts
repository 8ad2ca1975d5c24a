import { expect } from 'vitest'
import { QueryError } from '../../../query/client/errors.ts'
import { scanPage } from '../../../query/client/log-scan.ts'
import { logObjectsOf, readLog } from '../../../query/client/wire-format.ts'
import type { LogObject, Page } from '../../../query/client/types.ts'
import { createLedger } from '../../../query/tokens/ledger.ts'
import type { LedgerResult } from '../../../query/tokens/ledger.ts'
import type { BalanceRow, LedgerOptions } from '../../../query/tokens/types.ts'

/** A log in the JSON of a service. */
export interface WireLog {
  readonly block_number?: number | string
  readonly log_index?: number | string
  readonly address?: string | null
  readonly topic0?: string | null
  readonly topic1?: string | null
  readonly topic2?: string | null
  readonly topic3?: string | null
  readonly data?: string | null
  readonly removed?: boolean
}

export const CONTRACT = `0x${'c0'.repeat(20)}`
export const ZERO = `0x${'0'.repeat(40)}`
export const MOST = 2n ** 256n - 1n

/** The published hashes; the code computes them from the signatures. */
export const TOPIC = {
  transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  single: '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62',
  batch: '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb',
  consecutive: '0xdeaa91b6123d068f5821d0fb0678463d1a8a6079fe8af5de3ce5e896dcf9133d',
  deposit: '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c',
  withdrawal: '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65',
  assign: '0x8a0e37b73a0d9c82e205d4d1a3ff3d0b57ce5f4d7bccf6bac03336dc101cb7ba',
  punkTransfer: '0x05af636b70da6819000c49f85b21fa82081c632069bb626f30932034099107d8',
  punkBought: '0x58e5d5a525e3b40bc15abaa38b5882678db1ee68befd2f60bafe3a7fd06db9e3',
} as const

/** An address of the tests: 1 is 0x…01. */
export const person = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** 32 bytes of hex digits. */
export const word = (value: bigint | number | string): string =>
  (typeof value === 'string' ? value.slice(2) : value.toString(16)).padStart(64, '0')

/** A log of the contract; the first topic is complete, the others and the data are words. */
export const logOf = (topic0: string, topics: readonly (bigint | number | string)[], data: string): WireLog => {
  const [topic1 = null, topic2 = null, topic3 = null] = topics.map((one) => `0x${word(one)}`)
  return { address: CONTRACT, topic0, topic1, topic2, topic3, data: `0x${data}` }
}

export const transfer = (from: string, to: string, amount: bigint | number): WireLog =>
  logOf(TOPIC.transfer, [from, to], word(amount))

export const handover = (from: string, to: string, id: bigint | number): WireLog =>
  logOf(TOPIC.transfer, [from, to, id], '')

/** From, to, id, amount. */
export const single = (from: string, to: string, [id, amount]: readonly [bigint | number, bigint | number]): WireLog =>
  logOf(TOPIC.single, [person(99), from, to], word(id) + word(amount))

export const batch = (
  from: string,
  to: string,
  items: readonly (readonly [bigint | number, bigint | number])[],
): WireLog => {
  const list = (at: 0 | 1) => word(items.length) + items.map((item) => word(item[at])).join('')
  return logOf(TOPIC.batch, [person(99), from, to], word(64) + word(96 + 32 * items.length) + list(0) + list(1))
}

/** Of ERC-2309. */
export const consecutive = (from: string, to: string, [first, last]: readonly [bigint, bigint]): WireLog =>
  logOf(TOPIC.consecutive, [first, from, to], word(last))

/** Logs without a position get consecutive ones in one block. */
export const placed = (logs: readonly WireLog[], block = 1): readonly WireLog[] =>
  logs.map((log, index) => ({ block_number: block, log_index: index, ...log }))

export interface PageBounds {
  readonly from: number
  readonly next: number
}

const refuse = (happened: string, evidence: string): Error =>
  new QueryError('protocol', { doing: 'read a page', happened, evidence })

export const pageOfBody = (body: Uint8Array, { from, next }: PageBounds): Page => ({
  from,
  next,
  archiveHeight: null,
  body,
  scanned: scanPage(Buffer.from(body), refuse)?.logs,
  logs: () => objectsOf(body).map((log) => readLog(log, refuse)),
  logObjects: () => objectsOf(body),
})

const objectsOf = (body: Uint8Array): readonly LogObject[] => {
  const answer: unknown = parse(Buffer.from(body).toString('utf8'))
  const isAnswer = typeof answer === 'object' && answer !== null && 'data' in answer
  return logObjectsOf(isAnswer ? answer.data : undefined, refuse)
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw refuse('no JSON', text)
  }
}

export const bodyOf = (logs: readonly WireLog[], next: number): Buffer =>
  Buffer.from(JSON.stringify({ data: [{ logs }], archive_height: next, next_block: next }))

export const pageOf = (logs: readonly WireLog[], bounds: PageBounds = { from: 0, next: 100 }) =>
  pageOfBody(bodyOf(logs, bounds.next), bounds)

type Asked = Omit<LedgerOptions, 'contract' | 'fullHistory'> & Partial<LedgerOptions>

/** How a ledger reads a page: `fast` from its bytes, `generic` parsed. */
export const PATHS = ['fast', 'generic'] as const
export type Path = (typeof PATHS)[number]

/** The page as the ledger gets it if the scan could not read it. */
export const onPath = (path: Path, page: Page): Page => (path === 'fast' ? page : { ...page, scanned: undefined })

/** A result whose rows are a list. */
export interface ListedResult extends Omit<LedgerResult, 'rows'> {
  readonly rows: readonly BalanceRow[]
}

export const listed = (result: LedgerResult | ListedResult): ListedResult => ({ ...result, rows: [...result.rows] })

/** The result of both paths, which must be equal; `fastPages` is the number of pages of the fast path. */
export const resultOf = (asked: Asked, ...pages: readonly Page[]): ListedResult => {
  const [fast, generic] = PATHS.map((path) => {
    const ledger = createLedger({ contract: CONTRACT, fullHistory: true, ...asked })
    for (const page of pages) ledger.applyPage(onPath(path, page))
    return listed(ledger.result())
  })
  if (fast === undefined || generic === undefined) throw new Error('unreachable')
  expect(withoutPaths(fast)).toEqual(withoutPaths(generic))
  return fast
}

export const withoutPaths = (result: LedgerResult | ListedResult): ListedResult => ({
  ...listed(result),
  stats: { ...result.stats, fastPages: 0 },
})

/** Balances by address, for tokens without ids. */
export const balancesOf = ({ rows }: ListedResult): Readonly<Record<string, bigint>> =>
  Object.fromEntries(rows.map(({ address, balance }) => [address, balance]))

/** The entries of `stats` other than pages and logs, without zeros. */
export const oddities = ({ stats }: Pick<LedgerResult, 'stats'>): Readonly<Record<string, number>> =>
  Object.fromEntries(
    Object.entries(stats).filter(
      ([name, count]) => count !== 0 && !['pages', 'fastPages', 'logs', 'applied'].includes(name),
    ),
  )
