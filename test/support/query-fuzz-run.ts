import { expect } from 'vitest'
import type { Dialect } from '../../src/query/service/api/asked.ts'
import { memoryStore } from './memory-store.ts'
import { askRaw, startQueryApi } from './query-api.ts'
import { randomBody } from './query-bodies.ts'
import { checkBody, type Course, createCore, FUZZ_LIMITS } from './query-fuzz.ts'
import { diceOf, randomChain } from './store-chain.ts'

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
  const api = await startQueryApi({ store, dialect, limits: FUZZ_LIMITS })
  const got = await askRaw(api, { body })
  const reply = await core(body)
  await api.close()
  const timeless = (text: string): string => text.replace(/_time":\d+/, '_time":0')
  expect([got.status, timeless(got.text)]).toEqual([
    reply.status,
    timeless(reply.body.toString('utf8')),
  ])
  return courses
}

/** Half of all bodies, in this dialect. */
export const fuzzDialect = async (dialect: Dialect): Promise<void> => {
  const before = Error.stackTraceLimit
  // Much of the time would go into traces that nobody reads.
  Error.stackTraceLimit = 0
  const courses: Course[] = []
  const chains = Math.ceil(BODIES / 2 / BODIES_A_CHAIN)
  for (let each = 0; each < chains; each += 1)
    courses.push(...(await fuzzChain(dialect, SEED * 1_000_000 + 2 * each)))
  Error.stackTraceLimit = before
  // That nothing was ever asked would look the same.
  const share = (of: (course: Course) => boolean): number =>
    courses.filter(of).length / courses.length
  expect(courses.length).toBeGreaterThanOrEqual(BODIES / 2)
  expect(share(({ status }) => status === 200)).toBeGreaterThan(0.35)
  expect(share(({ status }) => status === 400)).toBeGreaterThan(0.2)
  expect(share(({ status }) => status === 410)).toBeGreaterThan(0.01)
  expect(share(({ pages }) => pages > 1)).toBeGreaterThan(0.1)
  expect(share(({ logs }) => logs > 3)).toBeGreaterThan(0.1)
}
