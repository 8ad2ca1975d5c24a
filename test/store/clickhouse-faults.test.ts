import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../support/http.ts'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openClickHouseStore } from '../../query/store/clickhouse/store.ts'
import type { Block, LogStore } from '../../query/store/store.ts'
import {
  type ClickHouse,
  type ClickHousePlace,
  clickHousePlace,
  requireClickHouse,
  startClickHouse,
} from '../support/clickhouse.ts'
import { memoryStore } from '../support/memory-store.ts'
import { columnsOf, IDENTITY, kindOf, never, randomChain, WHOLE } from '../support/store-cases.ts'

/** What becomes of a statement on its way: never sent, sent and its answer lost, kept until `release`. */
type Fate = 'pass' | 'lost' | 'answer lost' | 'kept'

interface Meddler {
  /** HOST:PORT. */
  readonly address: string
  /** Called for each statement from now on. */
  meddle(fate: (statement: string) => Fate): void
  /** Sends what was kept, and waits until it is done. */
  release(): Promise<void>
  stop(): Promise<void>
}

/** A proxy between a store and its server that drops statements or responses as configured. */
const startMeddler = async (target: string): Promise<Meddler> => {
  let fateOf: (statement: string) => Fate = () => 'pass'
  let kept: (() => Promise<void>)[] = []
  const pass = async (incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> => {
    const { method, headers } = incoming
    const onward = request(`http://${target}${incoming.url}`, { method, headers, agent: false })
    return new Promise((resolve, reject) => {
      onward.on('response', resolve).on('error', reject).end(body)
    })
  }
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await incoming.toArray())
    const query = new URL(incoming.url ?? '', 'http://127.0.0.1').searchParams.get('query')
    const fate = fateOf(query ?? body.toString())
    if (fate === 'kept') kept.push(async () => void (await (await pass(incoming, body)).toArray()))
    if (fate === 'kept') return
    if (fate === 'lost') {
      response.destroy()
      return
    }
    const answer = await pass(incoming, body)
    const bytes = Buffer.concat(await answer.toArray())
    if (fate === 'answer lost') response.destroy()
    else response.writeHead(answer.statusCode ?? 500).end(bytes)
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  })
  const { port, close } = await listening(server)
  return {
    address: `127.0.0.1:${port}`,
    meddle: (fate) => {
      fateOf = fate
    },
    release: async () => {
      for (const send of kept) await send()
      kept = []
    },
    stop: close,
  }
}

const describeReal = await requireClickHouse()

const CHAIN = randomChain({ seed: 5, from: 0, blocks: 60, logs: 20 })
/** The same numbers with other logs: what a writer that died must not leave among ours. */
const OTHER = randomChain({ seed: 6, from: 0, blocks: 60, logs: 20 })

const expectHeld = async (store: LogStore, blocks: readonly Block[]): Promise<void> => {
  const naive = memoryStore()
  await naive.append(blocks)
  const expected = await naive.read(WHOLE, never())
  const found = await store.read(WHOLE, never())
  expect(columnsOf(found)).toEqual(columnsOf(expected))
  expect(await store.range()).toEqual(await naive.range())
  const [size, right] = [await store.size(), await naive.size()]
  expect({ logs: size.logs, blocks: size.blocks }).toEqual({ logs: right.logs, blocks: right.blocks })
}

const ledgerIs =
  (fate: Fate) =>
  (statement: string): Fate =>
    statement.startsWith('INSERT INTO chain_blocks') ? fate : 'pass'

describeReal('ClickHouse when something breaks', () => {
  let servers: ClickHouse
  let place: ClickHousePlace
  let meddler: Meddler

  beforeAll(async () => {
    servers = await startClickHouse(2)
    meddler = await startMeddler(servers.addresses[0] ?? '')
  })
  afterAll(async () => {
    await meddler.stop()
    await servers.stop()
  })
  beforeEach(async () => {
    meddler.meddle(() => 'pass')
    place = await clickHousePlace(servers)
  })
  afterEach(async () => place.remove())

  /** With the first server behind the meddler. */
  const meddled = async (timeout = 20_000): Promise<LogStore> =>
    openClickHouseStore(place.url.replace(servers.addresses[0] ?? '', meddler.address), {
      identity: IDENTITY,
      clock: systemClock,
      password: servers.password,
      timeout,
    })
  const database = (): string => place.url.replace(/^.*\/(\w+)\?.*$/, '$1')
  const rows = async (): Promise<number> => Number(await servers.ask(`SELECT count() FROM ${database()}.chain_logs`))

  it('never shows logs of a writer that died before the ledger entry', async () => {
    const writer = await meddled()
    await writer.append(CHAIN.slice(0, 10))
    const before = await rows()
    meddler.meddle(ledgerIs('lost'))
    const dying = OTHER.slice(10, 20).map((block, index) =>
      index === 0 ? { ...block, parentHash: CHAIN[9]?.hash ?? '' } : block,
    )
    expect(await kindOf(writer.append(dying))).toBe('unavailable')
    // The rows exist but belong to no ledger entry.
    expect(await rows()).toBeGreaterThan(before)
    const next = await place.open(IDENTITY)
    await expectHeld(next, CHAIN.slice(0, 10))
    await next.append(CHAIN.slice(10, 20))
    await expectHeld(next, CHAIN.slice(0, 20))
    await next.close()
    await expectHeld(await place.open(IDENTITY), CHAIN.slice(0, 20))
  })

  it('has a block once, even if it was inserted twice', async () => {
    const writer = await meddled(5000)
    await writer.append(CHAIN.slice(0, 10))
    meddler.meddle(ledgerIs('kept'))
    expect(await kindOf(writer.append(CHAIN.slice(10, 30)))).toBe('unavailable')
    meddler.meddle(() => 'pass')
    expect(await writer.range()).toMatchObject({ first: 0, last: 9 })
    await writer.append(CHAIN.slice(10, 20))
    await meddler.release()
    await expectHeld(writer, CHAIN.slice(0, 20))
    await expectHeld(await place.open(IDENTITY), CHAIN.slice(0, 20))
    await writer.append(CHAIN.slice(20, 40))
    await expectHeld(writer, CHAIN.slice(0, 40))
    await expectHeld(await place.open(IDENTITY), CHAIN.slice(0, 40))
  })

  it('reads its contents again after a lost response', async () => {
    const writer = await meddled()
    meddler.meddle(ledgerIs('answer lost'))
    expect(await kindOf(writer.append(CHAIN.slice(0, 10)))).toBe('unavailable')
    meddler.meddle(() => 'pass')
    expect(await writer.range()).toMatchObject({ first: 0, last: 9 })
    expect(await kindOf(writer.append(CHAIN.slice(0, 10)))).toBe('conflict')
    await writer.append(CHAIN.slice(10, 20))
    await expectHeld(writer, CHAIN.slice(0, 20))
  })

  it.each([0, 1])('is complete again after kill -9 of server %i', async (server) => {
    const store = await place.open(IDENTITY)
    let killed: Promise<void> | undefined
    let failures = 0
    for (let at = 0; at < CHAIN.length;) {
      if (at === 20) killed ??= servers.kill(server)
      const kind = await kindOf(store.append(CHAIN.slice(at, at + 5)))
      if (kind === 'no error') {
        at += 5
        continue
      }
      expect(kind).toBe('unavailable')
      failures += 1
      await killed
      // Half of the truth is no answer.
      expect(await kindOf(store.read(WHOLE, never()))).toBe('unavailable')
      expect(await kindOf(place.open(IDENTITY))).toBe('unavailable')
      await servers.revive(server)
      at = ((await store.range())?.last ?? -1) + 1
    }
    expect(failures).toBe(1)
    await expectHeld(store, CHAIN)
    await expectHeld(await place.open(IDENTITY), CHAIN)
  })

  it('cannot be opened if a server has lost its logs', async () => {
    const store = await place.open(IDENTITY)
    await store.append(CHAIN)
    await servers.ask(`DROP TABLE ${database()}.chain_logs_local`, 1)
    expect(await kindOf(store.read(WHOLE, never()))).toMatch(/^(?:unavailable|broken)$/)
    expect(await kindOf(place.open(IDENTITY))).toBe('broken')
  })

  it('has a single writer', async () => {
    const [one, other] = [await place.open(IDENTITY), await place.open(IDENTITY)]
    await one.append(CHAIN.slice(0, 10))
    expect(await kindOf(other.append(CHAIN.slice(0, 10)))).toBe('no error')
    expect(await kindOf(one.append(CHAIN.slice(10, 20)))).toBe('broken')
    await expectHeld(await place.open(IDENTITY), CHAIN.slice(0, 10))
  })

  it('names the server in errors, but not the password', async () => {
    const { url } = place
    const wrong = openClickHouseStore(url.replace('chain@', 'nobody@'), {
      identity: IDENTITY,
      clock: systemClock,
      password: servers.password,
    })
    const error: unknown = await wrong.catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: 'broken' })
    expect(String(error)).toContain(servers.addresses[0])
    expect(String(error)).not.toContain(servers.password.reveal())
  })

  it('creates nothing if the chain id is unknown', async () => {
    expect(await kindOf(place.open({ ...IDENTITY, chainId: null }))).toBe('empty')
    expect(await servers.ask(`SHOW TABLES FROM ${database()}`)).toBe('')
    const store = await place.open(IDENTITY)
    await store.close()
    expect((await place.open({ ...IDENTITY, chainId: null })).chainId).toBe(143)
  })

  it('requires all servers that it was created with', async () => {
    await (await place.open(IDENTITY)).close()
    const alone = place.url.replace(/,[\d.:]+/, '')
    const options = { identity: IDENTITY, clock: systemClock, password: servers.password }
    expect(await kindOf(openClickHouseStore(alone, options))).toBe('broken')
    const single = alone.replace(/cluster=\w+&/, '')
    expect(await kindOf(openClickHouseStore(single, options))).toBe('identity')
  })
})
