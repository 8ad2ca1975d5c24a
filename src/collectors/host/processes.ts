import { LIMITS } from '../../core/limits.ts'
import { SourceError } from '../../core/errors.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { parseListeners, parseOpenFilesLimit } from '../../parsers/kernel-files.ts'
import type { FileTree } from '../../sources/file-tree.ts'
import type { HostCheck } from './host-check.ts'
import type { MainPids } from '../shared/node-state.ts'

interface ProcessCheckOptions {
  readonly procfs: FileTree
  readonly mainPids: MainPids
  readonly ports: readonly number[]
  /** Ports that a firewall protects. */
  readonly firewalledPorts: readonly number[]
}

/** Limit and number of open files of the main processes of the node. */
export const processChecks = ({ procfs, mainPids }: ProcessCheckOptions): readonly HostCheck[] => [
  {
    name: 'limits of services',
    read: async () => {
      const found: Sample[] = []
      for (const [service, pid] of mainPids.get()) {
        const text = await procfs.read(`${pid}/limits`)
        const limit = text === null || text === '' ? null : parseOpenFilesLimit(text)
        found.push(...sampleIfKnown('chain_service_max_file_descriptors', limit, { service }))
      }
      return found.length === 0 ? { samples: [], state: whyNone(mainPids) } : found
    },
  },
  {
    name: 'open files of services',
    read: async () => {
      const found: Sample[] = []
      let isHidden = false
      for (const [service, pid] of mainPids.get()) {
        try {
          const count = await procfs.count(`${pid}/fd`)
          found.push(...sampleIfKnown('chain_service_open_file_descriptors', count, { service }))
        } catch (error) {
          if (!(error instanceof SourceError)) throw error
          isHidden = true
        }
      }
      if (isHidden) return { samples: found, state: HIDDEN }
      return found.length === 0 ? { samples: [], state: whyNone(mainPids) } : found
    },
  },
]

/** Hidden processes of other users and those that have ended are both ENOENT. */
const whyNone = (mainPids: MainPids): string =>
  mainPids.get().size === 0
    ? 'no running service is known'
    : 'the processes are not visible: hidden by hidepid or ProtectProc (docs/how-to/host.md#hide-the-process-list)'

const HIDDEN = 'not counted for other users before Linux 6.2 (docs/how-to/host.md)'

/** Bytes to read: 1700 listening sockets; connections follow after them. */
const TABLE_BYTES = LIMITS.socketTable.bytes

/** Ports on which a process listens on an interface other than loopback, without those that the operator protects. */
export const portsCheck = ({ procfs, ports, firewalledPorts }: ProcessCheckOptions): HostCheck => ({
  name: 'ports',
  read: async () => {
    const tables = [
      await procfs.read('net/tcp', TABLE_BYTES),
      await procfs.read('net/tcp6', TABLE_BYTES), // absent if IPv6 is disabled
    ].filter((table) => table !== null)
    if (tables.length === 0) return []
    const open = new Set(
      tables
        .flatMap(parseListeners)
        .filter(({ isLoopback, port }) => !isLoopback && !firewalledPorts.includes(port))
        .map(({ port }) => port),
    )
    const exposed = ports.filter((port) => open.has(port))
    return {
      samples: ports.map((port) => sample('chain_host_port_exposed', open.has(port), { port: String(port) })),
      state: exposed.length === 0 ? 'none exposed' : `exposed: ${exposed.join(', ')}`,
    }
  },
})
