import { expect, test } from 'vitest'
import { createAgentApi } from '../../src/sources/endpoints.ts'
import { NoResponseError } from '../../src/sources/http.ts'

const never = new AbortController().signal
const get = (error: Error) =>
  createAgentApi(() => Promise.reject(error), { host: '127.0.0.1', port: 1 }).get('/metrics', never)
const silence = (kind: 'refused' | 'timeout', detail: string) =>
  new NoResponseError(kind, 'http://127.0.0.1:1/metrics', detail)

test('a refused connection means that no agent runs', async () => {
  expect(await get(silence('refused', 'ECONNREFUSED'))).toBeNull()
})

test.each([
  ['a connection that is cut', silence('refused', 'ECONNRESET')],
  ['a host that cannot be reached', silence('refused', 'EHOSTUNREACH')],
  ['no answer in time', silence('timeout', 'ECONNREFUSED')],
])('%s is an error, and not "no agent"', async (_, error) => {
  await expect(get(error)).rejects.toBe(error)
})
