import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ephemeral range of Linux: no outgoing connection takes a port between its choice and the server's start. */
const FIRST = 12_000
const PORTS_PER_WORKER = 1000
const WORKERS = 20

const worker = Number(process.env['VITEST_POOL_ID'] ?? 0) % WORKERS
let next = Math.floor(Math.random() * PORTS_PER_WORKER)

/** A free port of the loopback interface. Each worker has a range of its own, and takes the ports of it in order. */
export const freePort = async (): Promise<number> => {
  for (let tried = 0; tried < PORTS_PER_WORKER; tried += 1) {
    const port = FIRST + worker * PORTS_PER_WORKER + next
    next = (next + 1) % PORTS_PER_WORKER
    if (await isFree(port)) return port
  }
  throw new Error(`worker ${worker} has no free port among ${PORTS_PER_WORKER} from ${FIRST}`)
}

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  const free = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (!free) return false
  server.close()
  await once(server, 'close')
  return true
}
