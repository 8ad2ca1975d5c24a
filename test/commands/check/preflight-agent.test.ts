import { createServer, type RequestListener } from 'node:http'
import { createServer as createSocketServer, type Server } from 'node:net'
import { afterEach, describe, expect, test } from 'vitest'
import { agent } from '../../../src/commands/check/preflight/agent.ts'
import { version } from '../../../src/core/version.ts'
import { freePort } from '../../support/free-port.ts'
import { type Host, visit } from './visit.ts'

describe('the agent', () => {
  let server: Server | undefined
  afterEach(() => {
    server?.close()
    server = undefined
  })
  const look = async (port: number, tools: Host['tools'] = {}) =>
    agent.look(visit({ set: [{ path: 'listen', value: `127.0.0.1:${port}` }], tools }))
  const listen = async (one: Server): Promise<number> => {
    server = one
    const port = await freePort()
    await new Promise<void>((resolve) => {
      one.listen(port, '127.0.0.1', resolve)
    })
    return port
  }
  const http = (handler: RequestListener) => listen(createServer(handler))
  const status = (runs: string) =>
    JSON.stringify({ agent: { version: runs, prefix: 'chain' }, collectors: {} })
  const answering = (runs: string) =>
    http((request, response) => response.end(request.url === '/metrics' ? '' : status(runs)))
  const unit = (state_: string) => ({
    'systemctl show': `Id=chain-agent.service\nLoadState=${state_}\n`,
  })

  test('one of this version is nothing to speak of', async () => {
    expect(await look(await answering(version))).toEqual([])
  })
  test('one of another version wants a restart', async () => {
    const [found] = await look(await answering('0.0.1'))
    expect(found).toMatchObject({
      severity: 'warning',
      says: `the agent that runs is 0.0.1, and ${version} is installed`,
    })
    expect(found?.advice.join(' ')).toContain('systemctl restart chain-agent')
  })
  test('nobody there: start it', async () => {
    const [found] = await look(await freePort(), unit('loaded'))
    expect(found).toMatchObject({
      name: 'ChainAgentDown',
      severity: 'warning',
      says: 'no agent watches this node',
    })
    expect(found?.advice.join(' ')).toContain('systemctl enable --now chain-agent')
  })
  test('nobody there, and no unit: install it', async () => {
    const [found] = await look(await freePort(), unit('not-found'))
    expect(found?.says).toBe('no agent watches this node')
    expect(found?.advice.join(' ')).toContain('README.md')
    expect(found?.advice.join(' ')).not.toContain('enable --now')
  })
  test.each([
    ['that has no such page', 404, ''],
    ['that answers everything', 200, '<html></html>'],
  ])('a web server %s is no agent', async (_, code, body) => {
    const port = await http((_request, response) => {
      response.statusCode = code
      response.end(body)
    })
    expect((await look(port))[0]?.says).toBe(
      `no agent watches this node: something else answers at 127.0.0.1:${port}`,
    )
  })
  test('nor is what speaks another language', async () => {
    const port = await listen(
      createSocketServer((socket) => {
        socket.on('error', () => undefined)
        socket.end('SSH-2.0\n')
      }),
    )
    expect((await look(port))[0]?.says).toContain('something else answers')
  })
})
