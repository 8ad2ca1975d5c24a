import { createServer } from 'node:http'
import { listening } from './http.ts'

export interface ExpositionServer {
  /** HOST:PORT. */
  readonly address: string
  close(): Promise<void>
}

/** What an agent would answer at /metrics, said beforehand. */
export const serveExposition = async (text: string): Promise<ExpositionServer> => {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4').end(text)
  })
  const { port, close } = await listening(server)
  return { address: `127.0.0.1:${port}`, close }
}
