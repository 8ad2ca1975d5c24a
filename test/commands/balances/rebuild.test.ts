import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { SourceError } from '../../../src/core/errors.ts'
import { QueryError } from '../../../query/client/errors.ts'
import type { QueryClient } from '../../../query/client/types.ts'
import { rebuildBalances } from '../../../query/commands/balances/rebuild.ts'
import { verifyBalances } from '../../../query/commands/balances/verify.ts'
import { createLedger } from '../../../query/tokens/ledger.ts'
import { it } from '../../support/directory.ts'
import { CONTRACT, pageOf, person, placed, transfer, ZERO } from '../../query/tokens/pages.ts'

const signal = new AbortController().signal
/** Each read of the clock takes some time. */
const clockOf = () => {
  let elapsed = 0
  return {
    now: () => 0,
    elapsed: () => {
      elapsed += 1
      return elapsed
    },
    sleep: () => Promise.resolve(),
  }
}

const RUN = {
  standard: 'erc20',
  contract: CONTRACT,
  profile: null,
  fromBlock: null,
  fullHistory: true,
  toBlock: null,
} as const
const url = 'http://127.0.0.1:1'
/** A client whose service is at block 1000. */
const clientOf = (run: QueryClient['run']): QueryClient => ({
  redact: (text) => text,
  height: () => Promise.resolve(1000),
  run,
})
const rebuild = (client: QueryClient, checkpoint: { readonly file: string; readonly resume: boolean }) =>
  rebuildBalances({ ...RUN, client, url, clock: clockOf(), signal, checkpoint, onProgress: () => undefined })

it('a checkpoint that cannot be written does not hide the error of the query', async ({ directory }) => {
  const first = new QueryError('no-progress', { doing: 'read on', happened: 'it stands' })
  const client = clientOf(async (_query, sink) => {
    await sink.page(pageOf(placed([transfer(ZERO, person(1), 5)]), { from: 0, next: 10 }))
    await sink.page(pageOf([], { from: 10, next: 20 }))
    await rm(directory, { recursive: true })
    throw first
  })
  await expect(rebuild(client, { file: join(directory, 'place'), resume: false })).rejects.toBe(first)
})

it('a node that does not respond is requested three times', async () => {
  let asked = 0
  const ledger = createLedger({ standard: 'erc20', contract: CONTRACT, fullHistory: true })
  const mints = Array.from({ length: 50 }, (_, index) => transfer(ZERO, person(index + 1), 1))
  ledger.applyPage(pageOf(placed(mints), { from: 0, next: 10 }))
  const verified = await verifyBalances({
    standard: 'erc20',
    contract: CONTRACT,
    profile: null,
    ledger: ledger.result(),
    sample: 40,
    rpcUrl: url,
    block: 9,
    clock: clockOf(),
    signal,
    ask: () => {
      asked += 1
      return Promise.reject(new SourceError({ doing: 'ask', happened: 'no answer' }))
    },
  })
  expect(asked).toBe(3)
  expect(verified).toMatchObject({ asked: 40, equal: 0, unchecked: 40, different: [], supply: null })
})
