import { writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSocketServer, type Server } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { agent, exposure } from '../../../src/commands/check/preflight/network.ts'
import { version } from '../../../src/core/package.ts'
import { it } from '../../support/directory.ts'
import { freePort } from '../../support/free-port.ts'
import { listening } from '../../support/http.ts'
import { type Host, context } from './context.ts'

describe('the agent', () => {
  const run = async (port: number, tools: Host['tools'] = {}) =>
    agent.run(context({ set: [{ path: 'listen', value: `127.0.0.1:${port}` }], tools }))
  const listen = async (server: Server): Promise<number> => {
    const { port } = await listening(server)
    onTestFinished(() => void server.close())
    return port
  }
  const http = (handler: RequestListener) => listen(createServer(handler))
  const unit = (state_: string) => ({ 'systemctl show': `Id=chain-agent.service\nLoadState=${state_}\n` })

  test('no finding for an agent of the installed version', async () => {
    expect(await agent.run(context({ agent: version }))).toEqual([])
  })
  test('an agent of another version needs a restart', async () => {
    const [found] = await agent.run(context({ agent: '0.0.1' }))
    expect(found).toMatchObject({
      severity: 'warning',
      summary: `the running agent is 0.0.1, and ${version} is installed`,
    })
    expect(found?.advice.join(' ')).toContain('systemctl restart chain-agent')
  })
  test('no process listens: start the agent', async () => {
    const [found] = await run(await freePort(), unit('loaded'))
    expect(found).toMatchObject({ name: 'ChainAgentDown', severity: 'warning', summary: 'no agent watches this node' })
    expect(found?.advice.join(' ')).toContain('systemctl enable --now chain-agent')
  })
  test('no process listens and no unit: install the agent', async () => {
    const [found] = await run(await freePort(), unit('not-found'))
    expect(found?.summary).toBe('no agent watches this node')
    expect(found?.advice.join(' ')).toContain('docs/how-to/install.md')
    expect(found?.advice.join(' ')).not.toContain('enable --now')
  })
  test.each([
    ['without such a page', 404, ''],
    ['that answers everything', 200, '<html></html>'],
  ])('a web server %s is not an agent', async (_, code, body) => {
    const port = await http((_request, response) => {
      response.statusCode = code
      response.end(body)
    })
    expect((await run(port))[0]?.summary).toBe(
      `no agent watches this node: something else answers at 127.0.0.1:${port}`,
    )
  })
  test('nor is a process with another protocol', async () => {
    const port = await listen(
      createSocketServer((socket) => {
        socket.on('error', () => undefined)
        socket.end('SSH-2.0\n')
      }),
    )
    expect((await run(port))[0]?.summary).toContain('something else answers')
  })
})

describe('a listener that other hosts reach', () => {
  const run = (set: Readonly<Record<string, string>>) =>
    exposure.run(context({ set: Object.entries(set).map(([path, value]) => ({ path, value })) }))

  test('is mentioned if it has no web configuration file', async () => {
    for (const listen of ['127.0.0.1:9843', '[::1]:9843', 'localhost:9843']) expect(await run({ listen })).toEqual([])
    const advice: unknown = [expect.stringContaining('firewall'), expect.stringContaining('web.configFile')]
    for (const listen of [':9843', '0.0.0.0:9843', '10.0.0.11:9843'])
      expect(await run({ listen })).toMatchObject([{ name: 'open listener', severity: 'info', advice }])
  })
  it('a valid file is no finding, one with an error is a warning with its line', async ({ directory }) => {
    const file = join(directory, 'web.yml')
    await writeFile(file, 'http_server_config: { http2: false }\n')
    expect(await run({ listen: ':9843', 'web.configFile': file })).toEqual([])
    await writeFile(file, 'http_server_config: { http2: true }\n')
    const [found] = await run({ 'web.configFile': file })
    expect(found?.severity).toBe('warning')
    expect(found?.evidence).toEqual([
      `${file}:1: http_server_config.http2: expected false: chain-agent serves HTTP/1.1 only`,
    ])
  })
})
