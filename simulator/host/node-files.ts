import { appendFile, mkdir, rename, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { SimulatedNode } from '../subject.ts'
import { ledgerFilesAt, walMegabytesAt } from './host.ts'
import { createSetFiles } from './set-files.ts'

const MEGABYTE = 1024 * 1024
const DAY_MS = 86_400_000
const RENEWED_EVERY_MS = 5000
const FULL_FILES = 24
const BLOCK = Buffer.alloc(MEGABYTE, 'wal ')

/** The files of the node: configuration, ledger, write-ahead log. */
export const createNodeFiles = (node: SimulatedNode, directory: string) => {
  const at = (...names: readonly string[]): string => join(directory, ...names)
  const { beginMs } = node.timeline
  const sets = createSetFiles(node, async (path, text) => writeAtomically(directory, path, text))

  const begin = async (): Promise<void> => {
    for (const name of ['config/forkpoint', 'config/validators', 'ledger', 'wal']) {
      await mkdir(at(name), { recursive: true })
    }
    await writeFile(at('config/node.toml'), `node_name = "${node.prefix}-simulated"\nstatesync_threshold = 600\n`)
    await sets.keep()
    await writeFile(at('wal', 'wal.0'), '')
    await date('config/node.toml', beginMs - 20 * DAY_MS)
    await date('config/validators/validators.toml', beginMs - DAY_MS / 12)
  }

  const date = async (name: string, ms: number): Promise<void> => {
    await utimes(at(name), ms / 1000, ms / 1000)
  }

  let ledgerFiles = 0
  const keepLedger = async (): Promise<void> => {
    const wanted = ledgerFilesAt(node.condition().host.ledger, node.now())
    for (; ledgerFiles < wanted; ledgerFiles += 1) {
      // A full ledger is a matter of files: only the first have content.
      await writeFile(at('ledger', `${ledgerFiles}.body`), BLOCK.subarray(0, ledgerFiles < FULL_FILES ? 16 * 1024 : 0))
    }
    for (; ledgerFiles > wanted; ledgerFiles -= 1) await rm(at('ledger', `${ledgerFiles - 1}.body`), { force: true })
  }

  /** The bytes are really written: free space of a file system cannot be simulated. */
  const keepWal = async (): Promise<void> => {
    const { wal } = node.condition().host
    const [shown, hidden] = [at('wal'), at('wal.unmounted')]
    const isShown = await exists(shown)
    if (isShown !== wal.isThere) await rename(...(isShown ? move(shown, hidden) : move(hidden, shown)))
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
    await sets.keep()
    await date('config/forkpoint/forkpoint.toml', forkpointMs ?? renewedMs)
    await keepLedger()
    await keepWal()
  }

  return {
    begin,
    keep,
    /** The next simulation in the same directory starts without an unmounted log. */
    clear: () => rm(at('wal.unmounted'), { recursive: true, force: true }),
  }
}

const move = (from: string, to: string): readonly [string, string] => [from, to]

const exists = async (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Atomic: a reader never sees a part of the file. */
export const writeAtomically = async (root: string, path: string, text: string): Promise<void> => {
  const draft = join(root, 'draft')
  await mkdir(dirname(join(root, path)), { recursive: true })
  await writeFile(draft, text)
  await rename(draft, join(root, path))
}
