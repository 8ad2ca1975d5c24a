import { expect } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { openDuckDbStore } from '../../../query/store/duckdb/store.ts'
import { it } from '../../support/directory.ts'
import { randomBody } from './fuzz-bodies.ts'
import { checkBody, createCore } from './fuzz-dialect.ts'
import { diceOf, randomChain } from '../../support/store-cases.ts'

it('a response from DuckDB equals that of a naive filter, byte by byte', async ({ directory }) => {
  const identity = { chainId: 1, scope: { addresses: [], topics: [] } }
  const store = await openDuckDbStore(directory, { identity, clock: systemClock })
  try {
    const chain = randomChain({ seed: 5, from: 3, blocks: 22, logs: 6 })
    await store.append(chain)
    const dice = diceOf(77)
    let pages = 0
    for (const dialect of ['spec', 'hosted'] as const) {
      const fuzzed = { store, chain, dialect }
      const core = createCore(fuzzed)
      for (let each = 0; each < 60; each += 1) {
        const body = randomBody({ dice, dialect, chain })
        const course = await checkBody(body, core, fuzzed).catch((error: unknown) => {
          throw new Error(body.toString('utf8'), { cause: error })
        })
        pages += course.pages
      }
    }
    expect(pages).toBeGreaterThan(60)
  } finally {
    await store.close()
  }
}, 30_000)
