import { createServer, type IncomingMessage, type Server } from 'node:http'
import { brotliCompressSync, createGzip, gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type BodyLimits, createAgent, readBody, sendRequest } from '../../src/sources/http-exchange.ts'
import { listening } from '../support/http.ts'

const { signal } = new AbortController()
const serve = async (server: Server) => {
  const { url, close } = await listening(server)
  onTestFinished(close)
  const agent = createAgent('http:')
  onTestFinished(() => {
    agent.destroy()
  })
  return (): Promise<IncomingMessage> => sendRequest({ url: new URL(url), agent, headers: {}, body: null, signal })
}

describe('a body', () => {
  const bodyOf = async (encoding: string, bytes: Uint8Array, limits: BodyLimits): Promise<string> => {
    const send = await serve(
      createServer((_, response) => response.writeHead(200, { 'content-encoding': encoding }).end(bytes)),
    )
    return (await readBody(await send(), limits)).toString()
  }
  const text = 'x'.repeat(100_000)

  it.each([
    ['gzip', gzipSync(text)],
    ['X-GZIP', gzipSync(text)],
    ['br', brotliCompressSync(text)],
    ['identity', Buffer.from(text)],
  ])('is decompressed up to its limit: %s', async (encoding, bytes) => {
    expect(await bodyOf(encoding, bytes, { bytes: 100_000, beyond: 'fail' })).toBe(text)
    const small = { bytes: 99_999, beyond: 'fail' } as const
    await expect(bodyOf(encoding, bytes, small)).rejects.toMatchObject({ problem: 'too large' })
  })

  it('has a limit of compressed bytes, too: empty members of gzip decompress to nothing', async () => {
    const members = Buffer.concat(Array.from({ length: 1000 }, () => gzipSync('')))
    const limits = { bytes: 10_000, beyond: 'fail' } as const
    expect(members.length).toBe(20_000)
    await expect(bodyOf('gzip', members, limits)).rejects.toMatchObject({ problem: 'too large' })
  })

  it.each([
    ['deflate', gzipSync(text), { problem: 'encoding', code: 'deflate' }],
    ['gzip', Buffer.from(text), { problem: 'compression', code: 'Z_DATA_ERROR' }],
    ['gzip', gzipSync(text).subarray(0, 100), { problem: 'compression', code: 'Z_BUF_ERROR' }],
  ])('that cannot be decompressed is a BodyError: %s', async (encoding, bytes, expected) => {
    const limits = { bytes: 100_000, beyond: 'fail' } as const
    await expect(bodyOf(encoding, bytes, limits)).rejects.toMatchObject(expected)
  })

  it('of a connection that is cut fails with the error of the connection', async () => {
    const send = await serve(
      createServer((_, response) => {
        const gzip = createGzip()
        gzip.pipe(response.writeHead(200, { 'content-encoding': 'gzip' }))
        gzip.write(text)
        gzip.flush(() => setImmediate(() => response.destroy()))
      }),
    )
    const message = await send()
    const failure = { name: 'Error', code: 'ECONNRESET' }
    await expect(readBody(message, { bytes: 1_000_000, beyond: 'fail' })).rejects.toMatchObject(failure)
  })
})

describe('a connection', () => {
  it('that the server closed while it was unused is replaced', async () => {
    let connections = 0
    const counts: number[] = []
    const server = createServer((request, response) => {
      counts.push(connections)
      // The second request of the first connection: the server has closed it without a word.
      if (counts.length === 2) request.socket.resetAndDestroy()
      else response.end('ok')
    }).on('connection', () => {
      connections += 1
    })
    const send = await serve(server)
    for (let times = 0; times < 2; times += 1) {
      expect((await readBody(await send(), { bytes: 10, beyond: 'fail' })).toString()).toBe('ok')
      // The agent keeps the connection in the next turn.
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(counts).toEqual([1, 1, 2])
  })

  it('that fails when it is new is not tried again', async () => {
    let requests = 0
    const send = await serve(
      createServer((request) => {
        requests += 1
        request.socket.resetAndDestroy()
      }),
    )
    await expect(send()).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(requests).toBe(1)
  })
})
