import { describe, expect } from 'vitest'
import { servedStore } from '../../support/memory-store.ts'
import { ask, askRaw, codeOf, errorOf, it as apiTest, plainChain, storeWith } from './fixtures.ts'

const TOKEN = `0x${'da'.repeat(20)}`
const OTHER = `0x${'0e'.repeat(20)}`
const TRANSFER = `0x${'dd'.repeat(32)}`
const ALICE = `0x${'0a'.repeat(32)}`
const BOB = `0x${'0b'.repeat(32)}`

/** Without names the query asks for all contracts or all topics. */
const UNNAMED = '; name them in the filter'

/** Blocks 8 to 60; a log in 12. */
const CHAIN = plainChain(8, 60, {
  12: [
    {
      logIndex: 0,
      transactionIndex: 0,
      transactionHash: TRANSFER,
      address: TOKEN,
      topics: [TRANSFER, ALICE, BOB],
      data: '0x',
    },
  ],
})

const it = apiTest.extend('served', { blocks: CHAIN })

describe('a service with some contracts and events', () => {
  const scope = { addresses: [TOKEN], topics: [[TRANSFER], [], [ALICE, BOB]] }
  const asking = (logs: unknown) => ({
    from_block: 10,
    to_block: 12,
    logs,
    field_selection: { log: ['log_index'] },
  })

  it.for([
    ['exactly those', [{ address: [TOKEN], topics: [[TRANSFER], [], [BOB, ALICE]] }]],
    ['fewer', [{ address: [TOKEN], topics: [[TRANSFER], [BOB], [BOB], []] }]],
  ])('answers %s', async ([, logs], { serve }) => {
    expect((await ask(await serve({ scope }), asking(logs))).status).toBe(200)
  })

  it.for<[string, string, readonly object[]]>([
    ['logs[0].address', UNNAMED, [{}]],
    ['logs[0].address', UNNAMED, [{ topics: [[TRANSFER], [], [BOB]] }]],
    ['logs[0].address', '', [{ address: [TOKEN, OTHER], topics: [[TRANSFER], [], [BOB]] }]],
    ['logs[0].topics[0]', UNNAMED, [{ address: [TOKEN] }]],
    ['logs[0].topics[2]', UNNAMED, [{ address: [TOKEN], topics: [[TRANSFER], [ALICE]] }]],
    [
      'logs[1].topics[2]',
      '',
      [
        { address: [TOKEN], topics: [[TRANSFER], [], [BOB]] },
        { address: [TOKEN], topics: [[TRANSFER], [], [BOB, TRANSFER]] },
      ],
    ],
  ])('rejects queries beyond the scope: %s%s', async ([path, advice, logs], { serve }) => {
    const got = await ask(await serve({ scope }), asking(logs))
    expect([got.status, errorOf(got)]).toEqual([
      400,
      {
        code: 'not_indexed',
        path,
        message: `this service keeps only logs of ${TOKEN} with topic0 ${TRANSFER} with topic2 ${ALICE} or ${BOB}${advice}`,
      },
    ])
  })
})

describe('a store with impossible results', () => {
  it.for<[string, object]>([
    ['covers nothing', { next: 10 }],
    ['covers more than there is', { next: 62 }],
    ['has a row from elsewhere', { blocks: [9] }],
    ['has fewer rows than it says', { count: 2 }],
    ['leaves a column out', { columns: new Map() }],
  ])('%s: causes an error', async ([, wrong], { serve }) => {
    const store = servedStore()
    await store.append(CHAIN)
    const read: typeof store.read = async (selection, signal) => ({
      ...(await store.read(selection, signal)),
      ...wrong,
    })
    const served = await serve({ store: storeWith({ read }, store), blocks: [] })
    const body = { from_block: 10, to_block: 13, logs: [{}], field_selection: { log: ['data'] } }
    expect(codeOf(await ask(served, body))).toBe('internal')
    expect(served.complaints).toHaveLength(1)
  })

  it.for(['log', 'transaction'])(
    'leaves a column out: a binary page does not have 0 in its place, %s',
    async (kind, { serve }) => {
      const store = servedStore()
      await store.append(CHAIN)
      const read: typeof store.read = async (selection, signal) => {
        const page = await store.read(selection, signal)
        return { ...page, columns: new Map([...page.columns].filter(([field]) => field !== 'block_number')) }
      }
      const served = await serve({ store: storeWith({ read }, store), blocks: [], height: () => 60 })
      const body = { from_block: 10, to_block: 14, logs: [{}], field_selection: { [kind]: ['block_number'] } }
      const got = await askRaw(served, { path: '/query/arrow-ipc', body: JSON.stringify(body) })
      expect([got.status, codeOf(got)]).toEqual([500, 'internal'])
    },
  )
})
