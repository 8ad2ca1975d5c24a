import { expect, it } from 'vitest'
import { z } from 'zod'
import { Secret } from '../../src/core/redaction/secret.ts'
import { contract } from '../support/store-cases.ts'
import { expectedLogs, FIRST, logsOf, pageOf, queryOf } from './chain.ts'
import { ALL, describeClients, RECENT, startClient } from './clients.ts'
import { startApi } from './service.ts'

const TO = FIRST + 60

describeClients.each(RECENT)('binary requests of client %s', (version) => {
  it.for([false, true])('are answered like JSON (by the ID of a query first: %s)', async (enableQueryCaching) => {
    const api = await startApi({ limits: { pageLogs: 60 } })
    const client = startClient(version, api, { serializationFormat: 'CapnProto', enableQueryCaching })
    const pages = await client.all('pages', queryOf())
    expect(logsOf(pages)).toEqual(expectedLogs())
    expect(new Set(api.answered.map(({ path, code }) => `${path} ${code}`))).toEqual(
      new Set(['/query/arrow-ipc/capnp 200']),
    )
    expect(api.answered).toHaveLength(enableQueryCaching ? 2 * pages.length : pages.length)
  })

  it('have any number of addresses and topics', async () => {
    const api = await startApi()
    const client = startClient(version, api, { serializationFormat: 'CapnProto' })
    const addresses = [contract(2), ...Array.from({ length: 5000 }, (_, index) => contract(1000 + index)), contract(4)]
    const topics = [[], [`0x${'0'.repeat(63)}1`, `0x${'0'.repeat(63)}2`]]
    const page = await client.call(
      'get',
      queryOf({ toBlock: TO, logs: [{ address: addresses, topics }, { address: [contract(5)] }] }),
    )
    const filters = [
      { addresses, topics },
      { addresses: [contract(5)], topics: [] },
    ]
    expect(logsOf([page])).toEqual(expectedLogs({ to: TO, filters }))
  })

  it('name each field of a log, a block and a transaction that is served, and the others are refused', async () => {
    const client = startClient(version, await startApi(), { serializationFormat: 'CapnProto' })
    const rowsOf = async (kind: 'block' | 'transaction' | 'log', field: string) => {
      const { data } = pageOf(await client.call('get', queryOf({ toBlock: TO, fieldSelection: { [kind]: [field] } })))
      return { block: data.blocks, transaction: data.transactions, log: [] }[kind]
    }
    for (const [kind, fields] of Object.entries(SERVED))
      for (const [field, key] of Object.entries(fields)) {
        const rows = await rowsOf(kind === 'block' ? 'block' : 'transaction', field)
        expect(rows.length).toBeGreaterThan(10)
        for (const row of rows) expect(Object.keys(z.looseObject({}).parse(row)), `${kind} ${field}`).toEqual([key])
      }
    await expect(rowsOf('block', 'Miner')).rejects.toThrow('not_served')
    await expect(rowsOf('transaction', 'From')).rejects.toThrow('not_served')
  })
})

const SERVED = {
  block: { Number: 'number', Hash: 'hash', ParentHash: 'parentHash', Timestamp: 'timestamp' },
  transaction: {
    BlockHash: 'blockHash',
    BlockNumber: 'blockNumber',
    Hash: 'hash',
    TransactionIndex: 'transactionIndex',
  },
}

/** What the user reads: the sentence of the service, complete, in the message of the client. */
const refusalOf = async (call: Promise<unknown>) => {
  const text = await call.then(
    () => 'no error',
    (error: unknown) => String(error),
  )
  const body = /\{"error":.*\}/.exec(text)?.[0]
  if (body === undefined) throw new Error(text)
  expect(body.length).toBeLessThan(400)
  const parsed: unknown = JSON.parse(body)
  return parsed
}

describeClients.each(ALL)('queries of client %s', (version) => {
  it('that select something in another way', async () => {
    const client = startClient(version, await startApi())
    const get = async (changes: Readonly<Record<string, unknown>>) =>
      pageOf(await client.call('get', queryOf({ toBlock: TO, ...changes })))
    const all = expectedLogs({ to: TO })
    const joined = { log: ['Address'], block: ['Number'], transaction: ['Hash'] }
    const { data } = await get({ fieldSelection: { ...joined, log: queryOf().fieldSelection.log }, joinMode: 2 })
    expect(data).toEqual({ blocks: [], transactions: [], logs: all })
    const few = await get({ maxNumLogs: 100 })
    const end = all[99]?.blockNumber ?? 0
    expect(few.nextBlock).toBe(end + 1)
    expect(few.data.logs).toEqual(expectedLogs({ to: end + 1 }))
    const short = await get({ maxNumBlocks: 7 })
    expect(short.nextBlock).toBe(FIRST + 7)
    // Older clients have no `include` either.
    const included = await get({ logs: [{ include: { address: [contract(1)] } }] })
    const ofContract = { addresses: [contract(1)], topics: [] }
    expect(included.data.logs).toEqual(version === '0.6.7' ? all : expectedLogs({ to: TO, filters: [ofContract] }))
    const blocks = await get({ logs: undefined, includeAllBlocks: true, fieldSelection: { block: ['Number'] } })
    expect(blocks.data.blocks).toEqual(Array.from({ length: 60 }, (_, index) => ({ number: FIRST + index })))
  })

  it('before the first block that is kept', async () => {
    const { store, ...api } = await startApi()
    await store.prune(FIRST + 20)
    const client = startClient(version, api)
    expect(await refusalOf(client.call('get', queryOf()))).toEqual({
      error: {
        code: 'pruned',
        message: `blocks before ${FIRST + 20} are not in the store`,
        path: 'from_block',
        first_block: FIRST + 20,
      },
    })
    expect(logsOf([await client.call('get', queryOf({ fromBlock: FIRST + 20 }))])).toEqual(
      expectedLogs({ from: FIRST + 20 }),
    )
  })

  it('with any token if there is no key, and else with the key only', async () => {
    const key = 'c2b7a1f06d5e4938'
    const free = await startApi()
    const closed = await startApi({ keys: [new Secret(key)] })
    const query = queryOf({ toBlock: TO })
    const get = (api: { readonly url: string }, apiToken: string) =>
      startClient(version, api, { apiToken }).call('get', query)
    for (const page of [await get(free, 'a b ü'), await get(closed, key)])
      expect(logsOf([page])).toEqual(expectedLogs({ to: TO }))
    expect(await refusalOf(get(closed, 'another'))).toMatchObject({
      error: { code: 'unauthorized', message: 'invalid API key' },
    })
    expect(closed.answered.map(({ code }) => code)).toEqual([200, 401])
  })
})
