import { expect } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { openDuckDbStore } from '../../../query/store/duckdb/store.ts'
import type { LogStore } from '../../../query/store/store.ts'
import { cli, startCli } from '../../support/cli.ts'
import { it as directoryTest } from '../../support/directory.ts'
import { jumpingClock } from '../../support/jumping-clock.ts'
import { changedList, result, to } from '../../query/ingest/fixtures.ts'
import { type RpcNode, type RpcNodeOptions, startRpcNode } from '../../support/rpc-node.ts'
import { eventually } from '../../support/eventually.ts'
import { never, WHOLE } from '../../support/store-cases.ts'

const SCOPE = { addresses: [], topics: [] }
/** Blocks 0 to 20 with 0, 1, 2, 3, 0, 1 … logs; these were stored without any. */
const BARE = [5, 6, 7]

/** A store with incomplete blocks, and a node that has all of their logs. */
const it = directoryTest.extend('given', ({ directory, onTestFinished }) => async (options: RpcNodeOptions = {}) => {
  const node = await startRpcNode({ height: 20, ...options })
  onTestFinished(node.close)
  const openStore = () => openDuckDbStore(directory, { identity: { chainId: 143, scope: SCOPE }, clock: systemClock })
  const use = async <T>(act: (store: LogStore) => Promise<T>): Promise<T> => {
    const store = await openStore()
    try {
      return await act(store)
    } finally {
      await store.close()
    }
  }
  await use((store) =>
    store.append(to(20).map((number) => ({ ...node.chain.block(number), ...(BARE.includes(number) && { logs: [] }) }))),
  )
  const words = ['serve-query', '--store', directory, '--unbounded', '--rpc-url', node.url, '--reread']
  /** The block of each log in the store. */
  const stored = () => use(async (store) => (await store.read({ ...WHOLE, fields: ['block_number'] }, never())).blocks)
  return { node, words, stored }
})

const blocksOf = (node: RpcNode, missing: readonly number[] = []): readonly number[] =>
  to(20).flatMap((number) => (missing.includes(number) ? [] : node.chain.block(number).logs.map(() => number)))

it('replaces blocks that were stored without their logs, and prints the logs before and after', async ({ given }) => {
  const { node, words, stored } = await given()
  expect(await stored()).toEqual(blocksOf(node, BARE))
  const { code, out, err } = await cli([...words, '6-9'])
  expect([code, err]).toEqual([0, ''])
  // Blocks 6 and 7 have 2 and 3 logs, 8 and 9 have 0 and 1.
  expect(out).toBe('Blocks 6 to 9 were read again (4 blocks): 1 log before, 6 after, in 2 changed blocks.\n')
  expect(await stored()).toEqual(blocksOf(node, [5]))
  const one = await cli([...words, '5', '--json'])
  expect([one.code, one.out]).toEqual([
    0,
    '{"from":5,"to":5,"blocks":1,"logsBefore":0,"logsAfter":1,"changedBlocks":1}\n',
  ])
  expect(await stored()).toEqual(blocksOf(node))
})

it('waits for a node that still has no logs, and stops after ten minutes; the blocks before it are replaced', async ({
  given,
}) => {
  const { node, words, stored } = await given()
  const isGone = (log: unknown): boolean =>
    typeof log === 'object' && log !== null && 'blockNumber' in log && log.blockNumber === '0x6'
  const receipts: readonly unknown[] = ['0x6', ...node.chain.transactions(6)]
  node.faults = ({ method, params }) =>
    method === 'eth_getLogs'
      ? changedList((all) => all.filter((log) => !isGone(log)))
      : /Receipts?$/.test(method) && receipts.includes(params[0])
        ? result(null)
        : undefined
  const { code, out, err } = await cli([...words, '5-7'], { clock: jumpingClock() })
  expect([code, out]).toEqual([1, ''])
  expect(err).toContain('does not have the receipt of one of its transactions; retrying in 1 min\n')
  expect(err).toContain('Blocks 5 to 5 of 7 were read again (1 block): 0 logs before, 1 after, in 1 changed block.\n')
  expect(err).toContain('Could not read the receipts of a block')
  expect(await stored()).toEqual(blocksOf(node, [6, 7]))
})

it('ends with 130 after Ctrl-C, and prints what was read', async ({ given }) => {
  const { node, words, stored } = await given()
  node.faults = ({ method }) => (method === 'eth_getLogs' ? { kind: 'hang' } : undefined)
  const running = startCli([...words, '5-7'])
  await eventually(() => node.seen.some(({ method }) => method === 'eth_getLogs'), true)
  expect(await running.interrupt()).toEqual({ code: 130, out: 'No block was read again.\n', err: '' })
  expect(await stored()).toEqual(blocksOf(node, BARE))
})

it.for<[string, number, RegExp]>([
  ['7-5', 2, /the last block is before the first/],
  ['-5', 2, /expected a block number or FROM-TO, such as 1000-1999/],
  ['latest', 2, /expected a block number or FROM-TO/],
  ['19-21', 1, /the store has blocks 0 to 20\n.*what to do: name blocks that are in the store/],
])('rejects %s', async ([range, code, message], { given }) => {
  const { node, words, stored } = await given()
  const ended = await cli([...words, range])
  expect([ended.code, ended.out]).toEqual([code, ''])
  expect(ended.err).toMatch(message)
  expect(await stored()).toEqual(blocksOf(node, BARE))
})

it('rejects a node of another chain or fork, a missing store, and --json alone', async ({ given, directory }) => {
  const { node, words, stored } = await given({ chainId: 1 })
  const rejects = async (argv: readonly string[], code: number, message: string): Promise<void> => {
    const ended = await cli(argv)
    expect([ended.code, ended.out]).toEqual([code, ''])
    expect(ended.err).toContain(message)
  }
  await rejects([...words, '5'], 1, 'store: 143, node: 1')
  const other = await startRpcNode({ height: 20 })
  other.chain.fork(5)
  const forked = words.map((word) => (word === node.url ? other.url : word))
  await rejects([...forked, '5'], 1, 'replace block 5 in the store: the store does not have this block')
  await other.close()
  const elsewhere = words.map((word) => (word === directory ? `${directory}/none` : word))
  await rejects([...elsewhere, '5'], 1, 'there is no store yet')
  await rejects([...words.slice(0, -1), '--json'], 2, '--json is for --reread')
  expect(await stored()).toEqual(blocksOf(node, BARE))
})
