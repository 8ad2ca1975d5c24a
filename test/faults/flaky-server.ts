import { createServer, type ServerResponse } from 'node:http'

/** `aborts` and `locked` (no permission to run it) are only for tools. */
export type Mode = 'healthy' | 'gone' | 'hangs' | 'floods' | 'garbage' | 'aborts' | 'locked'

/** A proxy in front of a real server that fails on demand. */
export const createFlakyServer = async (target: string, port: number) => {
  let mode: Mode = 'healthy'
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      if (mode === 'hangs') return
      if (mode === 'floods') flood(response)
      else if (mode === 'garbage') response.end('<html>502 Bad Gateway</html>')
      else
        void forward(
          `${target}${request.url ?? ''}`,
          { method: request.method ?? 'GET', body: Buffer.concat(chunks) },
          response,
        )
    })
  })
  const listen = (): Promise<void> =>
    new Promise((resolve) => {
      server.listen(port, '127.0.0.1', resolve)
    })
  const shut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => {
        resolve()
      })
      server.closeAllConnections()
    })
  await listen()
  return {
    url: `http://127.0.0.1:${port}`,
    set: async (next: Mode) => {
      if (mode === 'gone' && next !== 'gone') await listen()
      if (mode !== 'gone' && next === 'gone') await shut()
      mode = next
    },
    close: () => (mode === 'gone' ? Promise.resolve() : shut()),
  }
}

const forward = async (
  url: string,
  { method, body }: { readonly method: string; readonly body: Buffer },
  response: ServerResponse,
): Promise<void> => {
  const answer = await fetch(url, method === 'GET' ? {} : { method, body: new Uint8Array(body) })
  response.writeHead(answer.status, { 'content-type': 'application/json' })
  response.end(await answer.text())
}

const flood = (response: ServerResponse): void => {
  const more = (): void => {
    while (!response.destroyed && response.write('{"jsonrpc":"2.0",'.repeat(4000)));
  }
  response.on('drain', more)
  more()
}
