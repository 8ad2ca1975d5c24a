import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { errorReply } from '../../../query/service/api/api.ts'
import { createForms, isReply } from '../../../query/service/api/forms.ts'
import { createHeights } from '../../../query/service/api/heights.ts'
import { toHttpError } from '../../../query/service/api/http-error.ts'
import { QUERY_LIMITS, type QueryLimits } from '../../../query/service/api/limits.ts'
import type { Dialect } from '../../../query/service/api/parse-query.ts'
import type { Reply } from '../../../query/service/api/send.ts'
import type { Block, LogStore } from '../../../query/store/store.ts'
import { memoryStore, servedStore } from '../../support/memory-store.ts'
import { diceOf, randomChain } from '../../support/store-cases.ts'
import { askRaw, startQueryApi } from './fixtures.ts'
import { randomBody } from './fuzz-bodies.ts'
import {
  expectedBlocks,
  expectedLogs,
  expectedTransactions,
  ORACLE_LIMITS,
  type Row,
  type Wanted,
  wantedOf,
} from './fuzz-oracle.ts'

/** Small enough that most answers take several pages. */
const FUZZ_LIMITS: QueryLimits = {
  ...QUERY_LIMITS,
  ...ORACLE_LIMITS,
  pageLogs: 4,
  pageBytes: 2000,
}

interface Fuzzed {
  readonly store: LogStore
  readonly chain: readonly Block[]
  readonly dialect: Dialect
}

const scope = { addresses: [], topics: [] }
const signal = new AbortController().signal

/** What the handler does with a body, without HTTP. */
const createCore = ({ store, chain, dialect }: Fuzzed) => {
  const heights = createHeights(() => chain.at(-1)?.number ?? null, systemClock)
  const { json } = createForms({ store, scope, heights, dialect, limits: FUZZ_LIMITS, clock: systemClock })
  return async (bytes: Buffer): Promise<Reply> => {
    try {
      const query = json.parse(bytes)
      return isReply(query) ? query : await json.answer(query, signal)
    } catch (error) {
      return errorReply(toHttpError(error, () => undefined))
    }
  }
}

type Core = ReturnType<typeof createCore>

/** The outcome of a body, for counting. */
interface Course {
  readonly status: number
  readonly pages: number
  readonly logs: number
}

/** Asks until there is no more, and throws where a byte is not as the oracle has it. */
const checkBody = async (bytes: Buffer, core: Core, fuzzed: Fuzzed): Promise<Course> => {
  const { chain, dialect } = fuzzed
  const first = chain[0]?.number ?? 0
  const wanted = wantedOf(bytes, dialect, chain.at(-1)?.number ?? 0)
  const reply = await core(bytes)
  const isPruned = wanted && wanted.from < first && (dialect === 'spec' || wanted.end >= wanted.from)
  const status = wanted === undefined ? 400 : isPruned ? 410 : 200
  if (reply.status !== status) throw new Error(`${reply.status} where ${status} was expected`)
  if (wanted === undefined || isPruned) {
    const text = reply.body.toString('utf8')
    if (!ERROR.test(text)) throw new Error(`what kind of error is ${text}`)
    return { status, pages: 0, logs: 0 }
  }
  return walk({ reply, bytes, core, wanted, chain, dialect })
}

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`
const ERROR = new RegExp(
  String.raw`^\{"error":\{"code":"[a-z_]+","message":${TEXT},"path":(?:null|${TEXT})(?:,"first_block":\d+)?\}\}$`,
)

interface Walk extends Omit<Fuzzed, 'store'> {
  readonly reply: Reply
  readonly bytes: Buffer
  readonly core: Core
  readonly wanted: Wanted
}

/** Page by page: each has exactly what lies in its blocks, begins where the last one ended, and the last one ends at the end. */
const walk = async (walking: Walk): Promise<Course> => {
  const { core, wanted, chain, dialect } = walking
  const logs = expectedLogs(chain, wanted)
  const blocks = expectedBlocks(chain, wanted, logs)
  const transactions = expectedTransactions(chain, wanted)
  const write = dialect === 'spec' ? specPage : hostedPage
  let { reply } = walking
  let { from } = wanted
  for (let pages = 1; ; pages += 1) {
    const text = reply.body.toString('utf8').replace(/_time":\d+/, '_time":0')
    const told = /"next_block":(\d+)/.exec(text)?.[1]
    const next = told === undefined ? Math.max(from, wanted.end + 1) : Number(told)
    const isInside = ({ block }: Row): boolean => block >= from && block < next
    const inside = logs.filter(isInside)
    const page = {
      chain,
      from,
      next,
      end: wanted.end,
      logs: inside,
      blocks: blocks.filter(isInside),
      transactions: transactions.filter(isInside),
    }
    const expected = write({ ...page, hasLogs: wanted.fields.length > 0 })
    if (text !== expected) throw new Error(`page from ${from}:\n${text}\nwhere was expected\n${expected}`)
    const mostLogs = Math.min(FUZZ_LIMITS.pageLogs, Math.max(1, wanted.maxLogs))
    const isFull = inside.filter(({ block }) => block < next - 1).length >= mostLogs
    if (isFull || next - from > Math.max(1, wanted.maxBlocks)) throw new Error('a block was begun on a full page')
    if (next > wanted.end) return { status: 200, pages, logs: logs.length }
    if (next <= from || told === undefined) throw new Error(`${next} after ${from} leads nowhere`)
    from = next
    reply = await core(nextRequest(walking.bytes, from))
  }
}

const UTF8 = new TextDecoder()

const nextRequest = (bytes: Buffer, from: number): Buffer => {
  const body: unknown = JSON.parse(UTF8.decode(bytes))
  return Buffer.from(JSON.stringify(Object.assign({}, body, { from_block: from })))
}

interface Page {
  readonly chain: readonly Block[]
  readonly from: number
  readonly next: number
  readonly end: number
  readonly logs: readonly Row[]
  readonly blocks: readonly Row[]
  readonly transactions: readonly Row[]
  /** Whether any log field is requested. */
  readonly hasLogs: boolean
}

const listOf = (rows: readonly Row[]): string => rows.map(({ json }) => json).join(',')

const specPage = ({ chain, next, end, logs }: Page): string => {
  const blocks = [...new Set(logs.map(({ block }) => block))]
  const data = blocks.map((one) => {
    const rows = logs.filter(({ block }) => block === one)
    return `{"logs":[${listOf(rows)}],"block":${one}}`
  })
  const more = next <= end ? `"next_block":${next},` : ''
  return `{"data":[${data.join(',')}],${more}"archive_height":${chain.at(-1)?.number}}`
}

const hostedPage = ({ chain, from, next, logs, blocks, transactions, hasLogs }: Page): string => {
  const rows = hasLogs ? logs : []
  const batch = `{"blocks":[${listOf(blocks)}],"transactions":[${listOf(transactions)}],"logs":[${listOf(rows)}],"traces":[]}`
  const first = chain.find(({ number }) => number === from)
  const last = chain.find(({ number }) => number === next - 1)
  const guard =
    next > from && first && last
      ? `{"block_number":${last.number},"timestamp":${last.timestamp},"hash":"${last.hash}","first_block_number":${from},"first_parent_hash":"${first.parentHash}"}`
      : 'null'
  return `{"data":[${rows.length + blocks.length + transactions.length > 0 ? batch : ''}],"archive_height":${chain.at(-1)?.number},"next_block":${next},"total_execution_time":0,"rollback_guard":${guard}}`
}

/** In all; more in a night. */
const BODIES = Number(process.env['FUZZ_BODIES'] ?? 200_000)
const SEED = Number(process.env['FUZZ_SEED'] ?? 10)
/** The last body of each chain goes over HTTP, too. */
const BODIES_A_CHAIN = 1000

/** Of the given chain: how many bodies came to what. */
const fuzzChain = async (dialect: Dialect, seed: number): Promise<readonly Course[]> => {
  const dice = diceOf(seed)
  const chain = randomChain({ seed: seed + 1, from: 3, blocks: 4 + dice(20), logs: 6 })
  const store = memoryStore()
  await store.append(chain)
  const fuzzed = { store, chain, dialect }
  const core = createCore(fuzzed)
  const courses: Course[] = []
  let body: Buffer = Buffer.alloc(0)
  for (let each = 0; each < BODIES_A_CHAIN; each += 1) {
    body = randomBody({ dice, dialect, chain })
    const course = await checkBody(body, core, fuzzed).catch((error: unknown) => {
      throw new Error(`chain ${seed}, body ${each}: ${body.toString('utf8')}`, { cause: error })
    })
    courses.push(course)
  }
  const height = () => chain.at(-1)?.number ?? null
  const served = servedStore()
  await served.append(chain)
  const api = await startQueryApi({ store: served, height, dialect, limits: FUZZ_LIMITS })
  const got = await askRaw(api, { body })
  const reply = await core(body)
  await api.close()
  const timeless = (text: string): string => text.replace(/_time":\d+/, '_time":0')
  expect([got.status, timeless(got.text)]).toEqual([reply.status, timeless(reply.body.toString('utf8'))])
  return courses
}

test.each(['spec', 'hosted'] as const)(
  'any body in the dialect %s gets the logs of a naive filter, or the expected error',
  { timeout: 3_600_000 },
  async (dialect) => {
    const before = Error.stackTraceLimit
    // Much of the time would go into stack traces.
    Error.stackTraceLimit = 0
    const courses: Course[] = []
    const chains = Math.ceil(BODIES / 2 / BODIES_A_CHAIN)
    for (let each = 0; each < chains; each += 1)
      courses.push(...(await fuzzChain(dialect, SEED * 1_000_000 + 2 * each)))
    Error.stackTraceLimit = before
    // Guards against a run that tests nothing.
    const share = (of: (course: Course) => boolean): number => courses.filter(of).length / courses.length
    expect(courses.length).toBeGreaterThanOrEqual(BODIES / 2)
    expect(share(({ status }) => status === 200)).toBeGreaterThan(0.35)
    expect(share(({ status }) => status === 400)).toBeGreaterThan(0.2)
    expect(share(({ status }) => status === 410)).toBeGreaterThan(0.01)
    expect(share(({ pages }) => pages > 1)).toBeGreaterThan(0.1)
    expect(share(({ logs }) => logs > 3)).toBeGreaterThan(0.1)
  },
)
