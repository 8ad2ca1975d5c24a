import { createServer, type RequestListener, type Server } from 'node:http'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { SourceError } from '../../src/core/errors.ts'
import { createCheckpoints } from '../../src/sources/checkpoint.ts'
import { createAsk, SilenceError } from '../../src/sources/http.ts'
import { createLineSplitter } from '../../src/sources/lines.ts'
import { createPrefix } from '../../src/sources/prefix.ts'
import { createQuery } from '../../src/sources/query.ts'
import { createRpc } from '../../src/sources/rpc.ts'
import { freePort } from '../support/free-port.ts'

let directory = ''
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-sources-'))
})
afterAll(async () => {
  await rm(directory, { recursive: true })
})

describe('lines', () => {
  test('are the same however the bytes are cut', () => {
    const text = 'first\n\nthïrd µ\nlast without end'
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1 }), (sizes) => {
        const split = createLineSplitter()
        const bytes = Buffer.from(text)
        const lines: (string | undefined)[] = []
        for (let from = 0, turn = 0; from < bytes.length; turn += 1) {
          const size = sizes[turn % sizes.length] ?? 1
          lines.push(...split(bytes.subarray(from, from + size)))
          from += size
        }
        expect(lines).toEqual(['first', '', 'thïrd µ'])
      }),
      { seed: 4 },
    )
  })
  test('one that is too long is told as such, and the next is whole', () => {
    const split = createLineSplitter(10)
    expect(split(Buffer.from('0123456789\n0123456789'))).toEqual(['0123456789'])
    expect(split(Buffer.from('x\nnext\n'))).toEqual([undefined, 'next'])
  })
})

describe('checkpoints', () => {
  test('what was saved is read, the newest value winning', async () => {
    const complaints: Error[] = []
    const checkpoints = createCheckpoints(join(directory, 'deep', 'state'), (error) => complaints.push(error))
    const place = checkpoints.open('ledger')
    expect(await place.read()).toBeUndefined()
    for (let turn = 0; turn < 100; turn += 1) place.save({ turn, big: 2n ** 60n })
    await checkpoints.flush()
    expect(await place.read()).toEqual({ turn: 99, big: '1152921504606846976' })
    expect(await readdir(join(directory, 'deep', 'state'))).toEqual(['ledger.json'])
    expect(complaints).toEqual([])
  })
  test('half a document is none', async () => {
    const checkpoints = createCheckpoints(directory, () => undefined)
    await writeFile(join(directory, 'broken.json'), '{"cursor":"s=1')
    expect(await checkpoints.open('broken').read()).toBeUndefined()
  })
  test('a directory that cannot be written is complained about once, and holds nobody up', async () => {
    const file = join(directory, 'a-file')
    await writeFile(file, 'keep me')
    const complaints: Error[] = []
    const checkpoints = createCheckpoints(file, (error) => complaints.push(error))
    checkpoints.open('a').save(1)
    checkpoints.open('b').save(2)
    await checkpoints.flush()
    expect(complaints).toHaveLength(1)
    expect(await readFile(file, 'utf8')).toBe('keep me')
  })
})

describe('asking', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) {
      server.closeAllConnections()
      server.close()
    }
  })
  const serve = (listener: RequestListener): Promise<string> =>
    new Promise((resolve) => {
      const server = createServer(listener)
      servers.push(server)
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`)
      })
    })
  const ask = createAsk(systemClock)
  const never = new AbortController().signal
  const silence = async (asking: Promise<unknown>): Promise<string> => {
    const error: unknown = await asking.catch((thrown: unknown) => thrown)
    return error instanceof SilenceError ? `${error.silence}: ${error.message}` : String(error)
  }

  test('JSON-RPC as the node wants it: POST /, an id, a type', async () => {
    const seen: unknown[] = []
    const url = await serve((request, response) => {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        seen.push([request.method, request.url, request.headers['content-type'], JSON.parse(body)])
        response.statusCode = 503
        response.end('busy')
      })
    })
    expect(await createRpc(ask, url, 1000).call('eth_getBlockByNumber', ['latest', false], never)).toEqual({ status: 503, text: 'busy' })
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_getBlockByNumber', params: ['latest', false] }
    expect(seen).toEqual([['POST', '/', 'application/json', body]])
  })
  test('the height of a query service, wherever its address ends', async () => {
    const url = await serve((request, response) => response.end(request.url))
    expect((await createQuery(ask, `${url}/v1/`, 1000).height(never)).text).toBe('/v1/height')
  })
  test('nobody listens', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/KEY`
    expect(await silence(ask({ url, timeout: 1000, signal: never }))).toBe(
      `refused: Could not ask http://127.0.0.1:${port}/…: no connection (ECONNREFUSED)`,
    )
  })
  test('nobody speaks in time: before the answer, and in the middle of it', async () => {
    const mute = await serve(() => undefined)
    expect(await silence(ask({ url: mute, timeout: 100, signal: never }))).toMatch(/^timeout: .*: no answer in time$/)
    const slow = await serve((_, response) => response.write('{"jsonrpc'))
    expect(await silence(ask({ url: slow, timeout: 100, signal: never }))).toMatch(/^timeout: /)
  })
  test('the connection is cut', async () => {
    const url = await serve((request) => request.socket.destroy())
    expect(await silence(ask({ url, timeout: 1000, signal: never }))).toMatch(/^refused: /)
  })
  test('an answer without end is cut, and so is no JSON', async () => {
    const url = await serve((_, response) => {
      const more = (): void => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    })
    const { text } = await ask({ url, timeout: 5000, signal: never })
    expect(text.length).toBeLessThanOrEqual(8 * 1024 * 1024)
  })
})

describe('the prefix', () => {
  const nowhere = new AbortController().signal
  const units = (stdout: string | Error) => ({
    run: () => (stdout instanceof Error ? Promise.reject(stdout) : Promise.resolve({ stdout, stderr: '' })),
    async *stream() {
      yield await Promise.reject<Uint8Array>(new Error('not here'))
    },
    killAll: () => undefined,
  })
  const noUnits = new SourceError({ doing: 'run systemctl', happened: 'exit code 1' })
  const tools = async (...names: readonly string[]): Promise<string> => {
    const path = await mkdtemp(join(directory, 'bin-'))
    await mkdir(path, { recursive: true })
    for (const name of names) {
      await writeFile(join(path, name), '')
      await chmod(join(path, name), 0o755)
    }
    return path
  }

  test.each([
    ['the configuration decides', 'monad', 'chain-bft.service enabled', [], { word: 'monad', from: 'configuration' }],
    ['else the one unit', 'auto', 'monad-bft.service enabled enabled', ['chain-mpt'], { word: 'monad', from: 'systemd' }],
    ['two units decide nothing, the tool does', 'auto', 'a-bft.service x\nb-bft.service x', ['b-mpt', 'b-ledger-tail'], { word: 'b', from: 'PATH' }],
    ['no systemd', 'auto', noUnits, ['monad-mpt'], { word: 'monad', from: 'PATH' }],
    ['two makers on PATH decide nothing', 'auto', '', ['a-mpt', 'b-mpt'], { word: 'chain', from: 'default' }],
    ['nothing anywhere', 'auto', '', [], { word: 'chain', from: 'default' }],
  ] as const)('%s', async (_, configured, listed, names, expected) => {
    const path = `${await tools(...names)}:/does/not/exist`
    expect(await createPrefix({ exec: units(listed), path, configured })(nowhere)).toEqual(expected)
  })

  test('looks again until something has told it: the node may be installed later', async () => {
    const path = await tools()
    const read = createPrefix({ exec: units(''), path, configured: 'auto' })
    expect((await read(nowhere)).from).toBe('default')
    await writeFile(join(path, 'monad-mpt'), '')
    expect(await read(nowhere)).toEqual({ word: 'monad', from: 'PATH' })
    await rm(join(path, 'monad-mpt'))
    expect((await read(nowhere)).word).toBe('monad')
  })
})
