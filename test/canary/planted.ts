import { once } from 'node:events'
import { createServer } from 'node:http'

export const secret = (place: string): string => `CanaryOf${place}7Q2w9Z`

/** The node's own metrics, with secrets in labels, in lines that are none, and in its address; and whatever key it is shown. */
export const talkativeMetrics = async (behind: string) => {
  const server = createServer((request, response) => {
    const more = [
      request.headers.authorization,
      `chain_node_info{network="rehearsal",service_name="${secret('Metrics')}",token="${secret('Metrics')}"} 1`,
      `password=${secret('Metrics')} is no line`,
      `# HELP chain_x ${secret('Metrics')}`,
      '',
    ].join('\n')
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
