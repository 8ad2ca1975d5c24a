import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matches, type ServedLog } from '../support/query-chain.ts'
import { fetchAll, positionsIn, positionsOf } from './client-fixtures.ts'
import { type Fault, startQueryServer } from '../support/query-server.ts'

const address = (of: number): string => `0x${`${of}`.repeat(40)}`
const topic = (of: number): string => `0x${`${of}`.repeat(64)}`

/** Sparse and dense blocks; few addresses and topics, so that filters match some logs and not others. */
const someLogs = fc
  .array(
    fc.record({
      gap: fc.oneof(
        { weight: 5, arbitrary: fc.constant(0) },
        { weight: 3, arbitrary: fc.integer({ min: 1, max: 3 }) },
        { weight: 1, arbitrary: fc.integer({ min: 1, max: 60 }) },
      ),
      of: fc.integer({ min: 1, max: 3 }),
      topics: fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 4 }),
    }),
    { maxLength: 150 },
  )
  .map((steps): ServedLog[] => {
    let block = 0
    let index = -1
    return steps.map(({ gap, of, topics }, at) => {
      block += gap
      index = gap === 0 ? index + 1 : 0
      return { block, index, address: address(of), topics: topics.map(topic), data: `0x${at}` }
    })
  })

const serviceOptions = fc.record({
  dialect: fc.constantFrom('spec' as const, 'hosted' as const),
  pageLogs: fc.integer({ min: 1, max: 60 }),
  pageBlocks: fc.constantFrom(15, 50, 300, Number.POSITIVE_INFINITY),
  numbers: fc.constantFrom('number' as const, 'hex' as const, 'decimal' as const),
  absentTopic: fc.constantFrom('null' as const, 'absent' as const, 'empty' as const),
  batchBlocks: fc.constantFrom(1, 3, 1000),
  guard: fc.boolean(),
  packing: fc.constantFrom(undefined, 'gzip' as const, 'br' as const),
})

const filter = fc.record({
  addresses: fc.uniqueArray(fc.integer({ min: 1, max: 3 }).map(address), { maxLength: 2 }),
  topics: fc.array(fc.uniqueArray(fc.integer({ min: 1, max: 3 }).map(topic), { maxLength: 2 }), {
    maxLength: 4,
  }),
})

const TOO_LARGE: Fault = { kind: 'reply', status: 413 }

/** Temporary faults of a service, which must not change the result. */
const FAULTS: readonly Fault[] = [
  { kind: 'reply', status: 502, body: '<html>' },
  { kind: 'reply', status: 429, headers: { 'retry-after': '1' } },
  TOO_LARGE,
  { kind: 'reply', status: 200, body: 'garbage' },
  { kind: 'cut', bytes: 20 },
  { kind: 'short-gzip' },
  { kind: 'stall' },
]

const faultSequence = fc.array(fc.option(fc.constantFrom(...FAULTS), { freq: 2 }), { maxLength: 30 })

describe('any chain, any page, any dialect', () => {
  it('returns the logs of a naive filter, once each and in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          logs: someLogs,
          service: serviceOptions,
          wanted: filter,
          ahead: fc.constantFrom(0, 1, 150, 1000),
          from: fc.integer({ min: 0, max: 300 }),
          span: fc.option(fc.integer({ min: 0, max: 2000 })),
          faults: faultSequence,
        }),
        async ({ logs, service, wanted, ahead, from, span, faults }) => {
          const height = Math.max(from, logs.at(-1)?.block ?? 0) + ahead
          const { packing, ...rest } = service
          // At most one for each request: two invalid responses are an error.
          const met = new Set<number>()
          const server = await startQueryServer({
            ...rest,
            ...(packing && { packing }),
            logs,
            height,
            faults: ({ path, from: first, to }) => {
              if (path !== '/query' || met.has(first)) return undefined
              met.add(first)
              const fault = faults[met.size - 1] ?? undefined
              // A single block that is too large is an error.
              const isWholesale = (to ?? 0) - first > 1
              return fault === TOO_LARGE && !isWholesale ? undefined : fault
            },
          })
          try {
            const toBlock = span === null ? null : from + span
            const query = { ...wanted, fromBlock: from, toBlock }
            const fetched = await fetchAll(server.url, { query })
            expect(fetched.error).toBeUndefined()
            const target = Math.min(toBlock ?? height, height)
            const asked = { address: wanted.addresses, topics: wanted.topics }
            const expected = logs.filter((log) => log.block >= from && log.block <= target && matches(asked, log))
            expect(positionsOf(fetched.logs())).toEqual(positionsIn(expected))
            expect(fetched.result).toMatchObject({ complete: true, through: target, target })
            expect(fetched.result?.stats.logs).toBe(expected.length)
            expect(fetched.pages.map((page) => page.from)).toEqual([
              from,
              ...fetched.pages.slice(0, -1).map(({ next }) => next),
            ])
            expect(fetched.pages.at(-1)?.next).toBe(target + 1)
          } finally {
            await server.close()
          }
        },
      ),
      { numRuns: 100, seed: 9 },
    )
  })
})
