import { expect, test } from 'vitest'
import { createInProcessHttp } from '../../simulator/in-process.ts'

const ask = (isOpen: boolean) =>
  createInProcessHttp(
    new Map([
      [
        'http://rpc.simulated',
        {
          isOpen: () => isOpen,
          answer: ({ method, path, body }) => ({
            status: 200,
            type: 'text/plain',
            text: `${method} ${path} ${body}`,
          }),
        },
      ],
    ]),
  )

test('sends the request to the endpoint of that address', async () => {
  expect(await ask(true)({ url: 'http://rpc.simulated/height' })).toMatchObject({
    status: 200,
    text: 'GET /height ',
  })
  const init = { method: 'POST', body: '{}' } as const
  expect((await ask(true)({ url: 'http://rpc.simulated', init })).text).toBe('POST / {}')
})

test.each([
  ['with a closed port', false, 'http://rpc.simulated'],
  ['with an unknown address', true, 'http://other.simulated'],
])('rejects with a refused connection for an endpoint %s', async (_, isOpen, url) => {
  await expect(ask(isOpen)({ url })).rejects.toMatchObject({
    name: 'SourceError',
    timeout: false,
    summary: `could not request ${url}: no connection (ECONNREFUSED)`,
  })
})
