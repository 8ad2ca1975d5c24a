import { sample } from '../../core/metric.ts'
import { parseListeners } from '../../parsers/sockets.ts'
import type { Tree } from '../../sources/kernel.ts'
import { type Aspect, createAspect } from './aspect.ts'

interface Parts {
  readonly procfs: Tree
  readonly ports: readonly number[]
  readonly timeout: number
}

/** Room for 1700 journalDependencies sockets; what stands behind them are connections. */
const TABLE_BYTES = 256 * 1024

/** Which ports are open to more than this host. A firewall is not seen. */
export const portsAspect = ({ procfs, ports, timeout }: Parts): Aspect =>
  createAspect({
    name: 'ports',
    timeout,
    read: async () => {
      const tables = [
        await procfs.read('net/tcp', TABLE_BYTES),
        await procfs.read('net/tcp6', TABLE_BYTES), // not there where IPv6 is off
      ].filter((table) => table !== null)
      if (tables.length === 0) return []
      const open = new Set(
        tables
          .flatMap(parseListeners)
          .filter(({ isLoopback }) => !isLoopback)
          .map(({ port }) => port),
      )
      const exposed = ports.filter((port) => open.has(port))
      return {
        samples: ports.map((port) =>
          sample('chain_host_port_exposed', open.has(port), { port: String(port) }),
        ),
        state: exposed.length === 0 ? 'none exposed' : `exposed: ${exposed.join(', ')}`,
      }
    },
  })
