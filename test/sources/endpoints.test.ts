import { describe, expect, test } from 'vitest'
import { createAgentApi } from '../../src/sources/endpoints.ts'
import { NoResponseError, type SendRequest } from '../../src/sources/http.ts'

const config = { listen: { host: '127.0.0.1', port: 1 }, web: { configFile: null }, state: { directory: '/none' } }
const never = new AbortController().signal
const get = (error: Error) => createAgentApi(() => Promise.reject(error), config).get('/metrics', never)
const silence = (kind: 'refused' | 'timeout', detail: string) =>
  new NoResponseError(kind, 'http://127.0.0.1:1/metrics', detail)

test('a refused connection means that no agent runs', async () => {
  expect(await get(silence('refused', 'ECONNREFUSED'))).toBeNull()
})

test.each([
  ['a host that cannot be reached', silence('refused', 'EHOSTUNREACH')],
  ['no answer in time', silence('timeout', 'ECONNREFUSED')],
])('%s is an error, and not "no agent"', async (_, error) => {
  await expect(get(error)).rejects.toBe(error)
})

test.each([
  ['::', 'http://127.0.0.1:1/metrics'],
  ['0.0.0.0', 'http://127.0.0.1:1/metrics'],
  ['::1', 'http://[::1]:1/metrics'],
  ['10.1.2.3', 'http://10.1.2.3:1/metrics'],
])('an agent that listens on %s is requested at %s', async (host, expected) => {
  const requests: string[] = []
  const ask: SendRequest = ({ url }) => {
    requests.push(url)
    return Promise.resolve({ status: 200, text: '' })
  }
  await createAgentApi(ask, { ...config, listen: { host, port: 1 } }).get('/metrics', never)
  expect(requests).toEqual([expected])
})

const responding = (status: number, from = config) =>
  createAgentApi(() => Promise.resolve({ status, text: '' }), from).get('/metrics', never)

test.each([401, 403])('status %i: the configuration of an agent with TLS or passwords is missing', async (status) => {
  await expect(responding(status)).rejects.toThrow(/HTTP status .*--web\.config\.file/s)
})

test('another status is another program', async () => {
  await expect(responding(404)).rejects.toThrow(/another program or an older agent listens there/)
})

test('a connection that is cut is an error: a TLS server closes one without TLS', async () => {
  await expect(get(silence('refused', 'ECONNRESET'))).rejects.toThrow(/--web\.config\.file/)
})

describe('with a web configuration file', () => {
  const withFile = { ...config, web: { configFile: '/etc/web.yml' } }
  const failing = (detail: string) =>
    createAgentApi(() => Promise.reject(silence('refused', detail)), withFile).get('/metrics', never)

  test('the request goes to the socket in the state directory', async () => {
    const requests: unknown[] = []
    const api = createAgentApi((request) => {
      requests.push(request.socketPath)
      return Promise.resolve({ status: 200, text: 'chain_rpc_up 1' })
    }, withFile)
    expect(await api.get('/metrics', never)).toBe('chain_rpc_up 1')
    expect(requests).toEqual(['/none/agent.sock'])
  })

  test.each(['ENOENT', 'ECONNREFUSED'])('%s: no agent runs', async (detail) => {
    expect(await failing(detail)).toBeNull()
  })

  test('a user who may not connect gets advice', async () => {
    await expect(failing('EACCES')).rejects.toThrow(
      /agent at \/none\/agent\.sock: permission denied.*\n {2}what to do: run the command with sudo/,
    )
  })
})
