import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { Secret } from '../../../src/core/redaction/secret.ts'
import { StoreError } from '../../../query/store/errors.ts'
import { hexLiteral } from '../../../query/store/clickhouse/read.ts'
import { connect, createServers, parseClickHouseUrl } from '../../../query/store/clickhouse/servers.ts'
import { listening } from '../../support/http.ts'

const PASSWORD = 'open-sesame'

/** What asking comes to when the server answers like this. */
const asking = async (answer: (response: ServerResponse) => void, timeout = 5000) => {
  const { port, close } = await listening(createServer((_, response) => answer(response)))
  const location = parseClickHouseUrl(`clickhouse://127.0.0.1:${port}/x`)
  const send = await connect({ location, clock: systemClock, password: new Secret(PASSWORD), timeout })
  const servers = createServers(location, send, { settings: {}, replicas: null })
  try {
    return await servers.query('SELECT 1')
  } catch (error) {
    if (error instanceof StoreError) return { kind: error.kind, message: error.message }
    throw error
  } finally {
    await close()
  }
}

describe('a response of ClickHouse', () => {
  it('is parsed into rows of strings', async () => {
    expect(await asking((response) => response.end('1\ta\n2\tb\n'))).toEqual([
      ['1', 'a'],
      ['2', 'b'],
    ])
  })

  it('is an error if it is truncated', async () => {
    const cut = await asking((response) => {
      response.writeHead(200, { 'content-length': 100 }).write('1\n')
      setTimeout(() => response.destroy(), 20)
    })
    expect(cut).toMatchObject({ kind: 'unavailable' })
  })

  it('is an error if its end is missing at the timeout', async () => {
    const pause = await asking((response) => void response.writeHead(200).write('1\n'), 500)
    expect(pause).toMatchObject({ kind: 'unavailable' })
    expect(JSON.stringify(pause)).toContain('request timed out')
  })

  it('is an error if the connection is refused or reset', async () => {
    const reset = await asking((response) => response.destroy())
    expect(reset).toMatchObject({ kind: 'unavailable' })
    expect(JSON.stringify(reset)).toContain('connection failed (ECONNRESET)')
  })

  it.each([
    [500, 'Code: 279, e.displayText() = DB::NetException: All connection tries failed', 'unavailable'],
    [500, 'Code: 192, e.displayText() = DB::Exception: Unknown user x', 'broken'],
    [404, 'Code: 60. DB::Exception: Unknown table expression', 'broken'],
    [503, 'upstream is away', 'unavailable'],
  ])('%i %s', async (status, text, kind) => {
    const refusal = await asking((response) => response.writeHead(status).end(`${text} ${PASSWORD}`))
    expect(refusal).toMatchObject({ kind })
    expect(JSON.stringify(refusal)).toContain(text.slice(-20))
    expect(JSON.stringify(refusal)).not.toContain(PASSWORD)
  })
})

it('a statement names its user, its database and its settings', async () => {
  const requests: IncomingMessage[] = []
  const { port, close } = await listening(
    createServer((request, response) => {
      requests.push(request)
      response.end()
    }),
  )
  const location = parseClickHouseUrl(`clickhouse://writer@127.0.0.1:${port}`)
  const send = await connect({ location, clock: systemClock, password: new Secret(PASSWORD), timeout: 5000 })
  await createServers(location, send, { settings: { async_insert: '0' }, replicas: 2 }).insert('INSERT INTO x', 'y')
  await close()
  const [{ url = '', headers } = {}] = requests
  const parameters = Object.fromEntries(new URL(url, 'http://x').searchParams)
  expect(parameters).toMatchObject({
    query: 'INSERT INTO x',
    database: 'default',
    async_insert: '0',
    insert_quorum: '2',
  })
  expect(headers?.authorization).toBe(`Basic ${Buffer.from(`writer:${PASSWORD}`).toString('base64')}`)
})

describe('a literal in a statement', () => {
  it('is bytes as hex only', () => {
    expect(hexLiteral('0x00ff27', 3)).toBe(String.raw`'\x00\xff\x27'`)
    for (const text of ['', '0x', '0x00ff2', '0x00FF27', "0x'; --", '0x00ff2700'])
      expect(() => hexLiteral(text, 3)).toThrow(RangeError)
  })
})
