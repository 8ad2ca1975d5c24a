import { once } from 'node:events'
import { createServer } from 'node:http'
import { secret, SECRET_METRICS } from '../support/secrets.ts'

/** The node's metrics with secrets in them, and the authorization header of the request. */
export const serveMetricsWithSecrets = async (behind: string) => {
  const server = createServer((request, response) => {
    const more = `${request.headers.authorization}\n${SECRET_METRICS}`
    void fetch(`${behind}/metrics`)
      .then((answer) => answer.text())
      .then((text) => response.end(`${text.replaceAll(/^chain_node_info.*$/gm, '')}${more}`))
      .catch(() => response.end(more))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return { url: `http://127.0.0.1:${port}/${secret('MetricsPath')}`, close: () => server.close() }
}
