import { readdir, stat } from 'node:fs/promises'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { z } from 'zod'

const memory = z.object({ rss: z.number(), anonymous: z.number(), heapUsed: z.number() })
const counts = z.record(z.string(), z.number())

/** What `preload.mjs` returns; `objects` and `after` if garbage was collected. */
const figuresSchema = z.object({
  before: memory,
  external: z.number(),
  descriptors: counts,
  children: z.number(),
  resources: counts,
  cpu: z.object({ user: z.number(), system: z.number() }),
  objects: counts.exactOptional(),
  after: memory.exactOptional(),
})

const MIB = 2 ** 20

/** `collect` collects garbage first; `count` also counts objects. */
export type Reading = 'read' | 'collect' | 'count'

/** The figures of a process at one time, by name and unit. Throws if it does not return any. */
export const readFigures = async (socketFile: string, how: Reading): Promise<Record<string, number>> => {
  const socket = connect(socketFile)
  await once(socket, 'connect')
  socket.write(`${how}\n`)
  const { before, after, objects, ...read } = figuresSchema.parse(JSON.parse(await text(socket)))
  return {
    'RSS, MiB': before.rss / MIB,
    'anonymous, MiB': before.anonymous / MIB,
    'heap, MiB': before.heapUsed / MIB,
    'external, MiB': read.external / MIB,
    descriptors: total(read.descriptors),
    ...named('descriptors', read.descriptors),
    children: read.children,
    resources: total(read.resources),
    ...named('resources', read.resources),
    'CPU, s': (read.cpu.user + read.cpu.system) / 1e6,
    ...(after && {
      'RSS after collection, MiB': after.rss / MIB,
      'anonymous after collection, MiB': after.anonymous / MIB,
      'heap after collection, MiB': after.heapUsed / MIB,
    }),
    ...named('objects', objects ?? {}),
  }
}

const total = (by: Readonly<Record<string, number>>): number => Object.values(by).reduce((sum, count) => sum + count, 0)

const named = (what: string, by: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(by).map(([kind, count]) => [`${what}: ${kind}`, count]))

/** Files and MiB of a directory. A file that vanishes meanwhile does not count. */
export const sizeOf = async (directory: string): Promise<Record<string, number>> => {
  let bytes = 0
  const entries = await readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    bytes += (await stat(join(parentPath, name)).catch(() => ({ size: 0 }))).size
  }
  return { 'state, MiB': bytes / MIB, 'state, files': files.length }
}
