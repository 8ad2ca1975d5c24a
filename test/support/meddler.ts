import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import { once } from 'node:events'

/** What becomes of a statement on its way: never sent, sent and its answer lost, kept until `release`. */
export type Fate = 'pass' | 'lost' | 'answer lost' | 'kept'

export interface Meddler {
  /** HOST:PORT. */
  readonly address: string
  /** Asked for each statement from now on. */
  meddle(fate: (statement: string) => Fate): void
  /** Sends what was kept, and waits until it is done. */
  release(): Promise<void>
  stop(): Promise<void>
}

/** Stands between a store and its server, and loses what it is told to lose. */
export const startMeddler = async (target: string): Promise<Meddler> => {
  let fateOf: (statement: string) => Fate = () => 'pass'
  let kept: (() => Promise<void>)[] = []
  const pass = async (incoming: IncomingMessage, body: Buffer): Promise<IncomingMessage> => {
    const { method, headers } = incoming
    const onward = request(`http://${target}${incoming.url}`, { method, headers, agent: false })
    return new Promise((resolve, reject) => {
      onward.on('response', resolve).on('error', reject).end(body)
    })
  }
  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await incoming.toArray())
    const query = new URL(incoming.url ?? '', 'http://127.0.0.1').searchParams.get('query')
    const fate = fateOf(query ?? body.toString())
    if (fate === 'kept') kept.push(async () => void (await (await pass(incoming, body)).toArray()))
    if (fate === 'kept') return
    if (fate === 'lost') {
      response.destroy()
      return
    }
    const answer = await pass(incoming, body)
    const bytes = Buffer.concat(await answer.toArray())
    if (fate === 'answer lost') response.destroy()
    else response.writeHead(answer.statusCode ?? 500).end(bytes)
  }
  const server = createServer((incoming, response) => {
    handle(incoming, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const place = server.address()
  if (place === null || typeof place === 'string') throw new Error('not a TCP port')
  return {
    address: `127.0.0.1:${place.port}`,
    meddle: (fate) => {
      fateOf = fate
    },
    release: async () => {
      for (const send of kept) await send()
      kept = []
    },
    stop: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
