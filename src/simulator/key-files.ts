import { chmod, mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { contentOf } from './key-contents.ts'
import type { SimulatedNode } from './node.ts'
import { LIVELY, type Pace } from './pace.ts'
import { KEY_FILES, type KeyFile, type KeyFileName } from './scenario/keys.ts'

/** Where the rehearsal's host has the files of its node. */
export interface NodePlaces {
  readonly nodeDirectory: string
  readonly backupDirectory: string
  readonly environmentFile: string
}

export interface KeyFileKeeper {
  readonly places: NodePlaces
  /** Brings the files to what the scenario says, until the signal aborts. */
  keep(run: Run): Promise<void>
}

interface Run {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly pace?: Pace
}

/** Writes the key files of the node under `directory`; there are all when it answers. */
export const createKeyFiles = async (
  node: SimulatedNode,
  directory: string,
): Promise<KeyFileKeeper> => {
  const places = placesIn(directory, node.prefix)
  const paths = pathsIn(places)
  for (const folder of [join(places.nodeDirectory, 'config'), places.backupDirectory]) {
    await mkdir(folder, { recursive: true, mode: 0o750 })
  }
  const { sealed } = node.own
  const settled = new Map<KeyFileName, KeyFile>()
  /** A file that did not change in the scenario is left as it is, whatever somebody made of it. */
  const settle = async (): Promise<void> => {
    const { keys } = node.condition()
    for (const name of KEY_FILES) {
      const [before, now] = [settled.get(name), keys[name]]
      if (before === now) continue
      for (const copy of now.rotated.slice(before?.rotated.length ?? 0)) {
        const rotated = `${paths[name]}.${stamp(copy.atMs)}.bak`
        await put(rotated, { name, keys: sealed, content: 'whole', ...copy })
      }
      await put(paths[name], { ...now, name, keys: sealed })
      settled.set(name, now)
    }
  }
  await settle()
  return {
    places,
    keep: async ({ clock, signal, pace = LIVELY }) => {
      while (!signal.aborted) {
        await clock.sleep(pace.keyFilesMs, signal)
        // Somebody may have taken the directory away; the node goes on without it.
        await settle().catch(() => undefined)
      }
    },
  }
}

const placesIn = (directory: string, prefix: string): NodePlaces => ({
  nodeDirectory: join(directory, 'home', prefix, `${prefix}-bft`),
  environmentFile: join(directory, 'home', prefix, '.env'),
  backupDirectory: join(directory, 'backup'),
})

const pathsIn = (places: NodePlaces): Readonly<Record<KeyFileName, string>> => ({
  secp: join(places.nodeDirectory, 'config', 'id-secp'),
  bls: join(places.nodeDirectory, 'config', 'id-bls'),
  password: places.environmentFile,
  'secp-backup': join(places.backupDirectory, 'secp-backup'),
  'bls-backup': join(places.backupDirectory, 'bls-backup'),
  'password-backup': join(places.backupDirectory, 'keystore-password-backup'),
})

/** 20260301121030, as the instructions for an export have it. */
const stamp = (ms: number): string => new Date(ms).toISOString().replaceAll(/\D/g, '').slice(0, 14)

interface Content extends Omit<KeyFile, 'rotated'> {
  readonly name: KeyFileName
  readonly keys: SimulatedNode['own']['sealed']
}

/** A reader gets the file before the change or after it. */
const put = async (path: string, file: Content): Promise<void> => {
  const content = contentOf(file.keys, file.name, file.content)
  if (content === undefined) {
    await rm(path, { force: true })
    return
  }
  await writeFile(`${path}.new`, content, { mode: 0o600 })
  await chmod(`${path}.new`, file.mode)
  await utimes(`${path}.new`, file.writtenMs / 1000, file.writtenMs / 1000)
  await rename(`${path}.new`, path)
}
