import { appendFile, mkdir, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SimulatedNode } from '../node.ts'
import { walMegabytesAt } from '../scenario/host.ts'

const MEGABYTE = 1024 * 1024
const DAY_MS = 86_400_000
const RENEWED_EVERY_MS = 5000
const LEDGER_FILES = 24
const BLOCK = Buffer.alloc(MEGABYTE, 'wal ')

/** What the node itself keeps on disk: configuration, ledger, write-ahead log. */
export const createNodeFiles = (node: SimulatedNode, directory: string) => {
  const at = (...names: readonly string[]): string => join(directory, ...names)
  const { beginMs } = node.timeline

  const begin = async (): Promise<void> => {
    for (const name of ['config/forkpoint', 'config/validators', 'ledger', 'wal']) {
      await mkdir(at(name), { recursive: true })
    }
    await writeFile(at('config/node.toml'), `node_name = "${node.prefix}-rehearsal"\n`)
    await writeFile(at('config/forkpoint/forkpoint.toml'), 'root = "simulated"\n')
    await writeFile(at('config/validators/validators.toml'), 'validators = []\n')
    for (let index = 0; index < LEDGER_FILES; index += 1) {
      await writeFile(at('ledger', `${index}.body`), BLOCK.subarray(0, 16 * 1024))
    }
    await writeFile(at('wal', 'wal.0'), '')
    await date('config/node.toml', beginMs - 20 * DAY_MS)
    await date('config/validators/validators.toml', beginMs - DAY_MS / 12)
  }

  const date = async (name: string, ms: number): Promise<void> => {
    await utimes(at(name), ms / 1000, ms / 1000)
  }

  /** Really written: what a file system has free cannot be pretended. */
  const keepWal = async (): Promise<void> => {
    const { wal } = node.condition().host
    const [shown, hidden] = [at('wal'), at('wal.unmounted')]
    const isShown = await exists(shown)
    if (isShown !== wal.isThere)
      await rename(...(isShown ? move(shown, hidden) : move(hidden, shown)))
    if (!wal.isThere) return
    const file = at('wal', 'wal.0')
    const wanted = Math.round(walMegabytesAt(wal, node.now()) * 4) * (MEGABYTE / 4)
    const { size } = await stat(file)
    if (size > wanted) await truncate(file, wanted)
    for (let left = wanted - size; left > 0; left -= BLOCK.length) {
      await appendFile(file, BLOCK.subarray(0, Math.min(left, BLOCK.length)))
    }
  }

  const keep = async (): Promise<void> => {
    const { forkpointMs } = node.condition().host
    const renewedMs = Math.floor(node.now() / RENEWED_EVERY_MS) * RENEWED_EVERY_MS
    await date('config/forkpoint/forkpoint.toml', forkpointMs ?? renewedMs)
    await keepWal()
  }

  return {
    begin,
    keep,
    /** The ledger of the next rehearsal in the same place begins anew. */
    clear: () => rm(at('wal.unmounted'), { recursive: true, force: true }),
  }
}

const move = (from: string, to: string): readonly [string, string] => [from, to]

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )
