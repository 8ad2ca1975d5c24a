import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SourceError } from '../../../src/core/errors.ts'
import { QueryError } from '../../../query/client/errors.ts'
import { identityOf, openCheckpoint } from '../../../query/client/checkpoint.ts'
import type { QueryClient } from '../../../query/client/types.ts'
import { rebuildBalances } from '../../../query/commands/balances/rebuild.ts'
import { verifyBalances } from '../../../query/commands/balances/verify.ts'
import { createLedger } from '../../../query/tokens/ledger.ts'
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

it('a checkpoint that cannot be written does not hide the error of the query', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-first-'))
  const first = new QueryError('no-progress', { doing: 'read on', happened: 'it stands' })
  const client: QueryClient = {
    redact: (text) => text,
    height: () => Promise.resolve(1000),
    run: async (_query, sink) => {
      await sink.page(pageOf(placed([transfer(ZERO, person(1), 5)]), { from: 0, next: 10 }))
      await sink.page(pageOf([], { from: 10, next: 20 }))
      await rm(directory, { recursive: true })
      throw first
    },
  }
  const rebuilding = rebuildBalances({
    standard: 'erc20',
    contract: CONTRACT,
    profile: null,
    client,
    url: 'http://127.0.0.1:1',
    clock: clockOf(),
    signal,
    fromBlock: null,
    fullHistory: true,
    toBlock: null,
    checkpoint: { file: join(directory, 'place'), resume: false },
    onProgress: () => undefined,
  })
  await expect(rebuilding).rejects.toBe(first)
})

it('a checkpoint of another version, whose ledger does not have everything, is not resumed', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-version-'))
  const file = join(directory, 'place')
  const run = {
    standard: 'erc20',
    contract: CONTRACT,
    profile: null,
    fromBlock: null,
    fullHistory: true,
    toBlock: null,
  } as const
  const url = 'http://127.0.0.1:1'
  // The state of another ledger: its title differs, as after a change of what is counted.
  const other = createLedger({ standard: 'erc1155', contract: CONTRACT, fullHistory: true })
  const mark = { target: 100, next: 10, last: null, output: null }
  await openCheckpoint(file, identityOf({ service: url, ...run })).write(mark, other.snapshot())
  const client: QueryClient = {
    redact: (text) => text,
    height: () => Promise.resolve(1000),
    run: () => Promise.reject(new Error('not reached')),
  }
  const rebuilding = rebuildBalances({
    ...run,
    client,
    url,
    clock: clockOf(),
    signal,
    checkpoint: { file, resume: true },
    onProgress: () => undefined,
  })
  await expect(rebuilding).rejects.toThrow(/another version of this program wrote it/)
  await rm(directory, { recursive: true })
})

it('a node that does not respond is requested three times', async () => {
  let asked = 0
  const rows = {
    length: 50,
    row: (index: number) => ({ address: person(index + 1), id: null, balance: 1n }),
    text: () => [],
    *[Symbol.iterator]() {
      for (let index = 0; index < 50; index += 1) yield this.row(index)
    },
  }
  const verified = await verifyBalances({
    standard: 'erc20',
    contract: CONTRACT,
    profile: null,
    ledger: { rows, intervals: [], supply: 50n },
    sample: 40,
    rpcUrl: 'http://127.0.0.1:1',
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
