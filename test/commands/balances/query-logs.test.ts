import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { cli } from '../../support/cli.ts'
import { it } from '../../support/directory.ts'
import type { Faults, QueryServer, QueryServerOptions } from '../../support/query-server.ts'
import { ADA, BOB, TOKEN, transfer, ZERO } from '../../support/token-logs.ts'
import { argv, serve } from './fixtures.ts'

/** Block 0 has no logs at an RPC. Ada is given 10 in each block from 1 on, and gives Bob 3 of them. */
const logs = (from: number, to: number, given = 10n) =>
  Array.from({ length: to - from + 1 }, (_, at) => [
    transfer({ block: from + at }, { from: ZERO, to: ADA, value: given }),
    transfer({ block: from + at, index: 1 }, { from: ADA, to: BOB, value: 3n }),
  ]).flat()

const BLOCKS: QueryServerOptions = { logs: logs(1, 30), height: 30, pageLogs: 20 }

/** A query service and an RPC with the same chain and the same pages, each with the same fault. */
const serveBoth = async (faultsOf: (server: QueryServer) => Faults = () => () => undefined, blocks = BLOCKS) => {
  const both = [await serve(blocks), await serve({ ...blocks, rpc: { maxLimit: 20 } })]
  for (const server of both) server.faults = faultsOf(server)
  return both
}

/** The number of pages that the server was asked for: the first call of an RPC is above its limit. */
const pageOf = ({ body, nth }: Parameters<Faults>[0]): number => nth - (body.includes('jsonrpc') ? 1 : 0)

it.for([
  ['without a fault', 210n, () => () => undefined],
  // 15 blocks of 7 and 15 of 17.
  [
    'at a reorg',
    360n,
    ({ chain }: QueryServer): Faults =>
      (one) => {
        if (one.path === '/query' && pageOf(one) === 2) chain.reorg(16, logs(16, 30, 20n))
        return undefined
      },
  ],
  [
    'with a cut connection',
    210n,
    (): Faults => (one) => (one.path === '/query' && pageOf(one) === 1 ? { kind: 'cut', bytes: 200 } : undefined),
  ],
] as const)(
  'balances over eth_queryLogs are those over a query service, byte for byte: %s',
  async ([, ada, faults]) => {
    for (const format of ['csv', 'json', 'table']) {
      const [service, rpc] = await Promise.all(
        (await serveBoth(faults)).map(async (server) => cli(argv(server, '--format', format, '--quiet'))),
      )
      expect(rpc?.out).toBe(service?.out)
      expect(rpc?.code).toBe(0)
      expect(rpc?.out).toContain(String(ada))
    }
  },
)

it('the checkpoint of an interrupted run has the same point and the same state, and is resumed', async ({
  directory,
}) => {
  // The last 200 blocks are delivered once all of them are read: the run ends after block 100.
  const servers = await serveBoth(() => (one) => (one.from > 200 ? { kind: 'reply', status: 403 } : undefined), {
    ...BLOCKS,
    logs: logs(1, 300),
    height: 300,
  })
  const checkpoints = servers.map((_, at) => join(directory, `checkpoint-${at}`))
  const run = async (server: QueryServer, checkpoint: string) =>
    cli(argv(server, '--format', 'csv', '--quiet', '--checkpoint', checkpoint, '--resume'))
  // The head of the checkpoint identifies the address of the service, and its second line is a fingerprint.
  const parts = await Promise.all(
    servers.map(async (server, at) => {
      expect((await run(server, checkpoints[at] ?? '')).code).toBe(3)
      const [head = '', , ...state] = (await readFile(checkpoints[at] ?? '', 'latin1')).split('\n')
      return { mark: /"mark":.*/.exec(head)?.[0], state: state.join('\n') }
    }),
  )
  expect(parts[1]).toEqual(parts[0])
  expect(parts[1]?.mark).toContain(`"next":101,"last":{"block":100,"hash":"0x${'0'.repeat(62)}64"}`)
  for (const server of servers) server.faults = () => undefined
  const outputs = await Promise.all(servers.map(async (server, at) => (await run(server, checkpoints[at] ?? '')).out))
  expect(outputs[1]).toBe(`address,balance\n${ADA},2100\n${BOB},900\n`)
  expect(outputs[0]).toBe(outputs[1])
})

it('query prints the same rows: the hash of a transaction is joined', async () => {
  const fields = 'transaction_hash,transaction_index,address,topic0,topic3,data,removed'
  const [service, rpc] = await Promise.all(
    (await serveBoth()).map(async ({ url }) =>
      cli(['query', '--url', url, '--address', TOKEN, '--fields', fields, '--format', 'csv', '--quiet']),
    ),
  )
  expect(rpc?.out).toBe(service?.out)
  expect(rpc?.out.split('\n')).toHaveLength(62)
  expect(rpc?.out).toContain(`\n30,1,0x${'0'.repeat(62)}1e,1,${TOKEN},`)
})
