import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileError, ifMissing } from '../core/errors.ts'
import { atFile, openRegular, withFile } from '../core/files.ts'
import { createFileTree } from './file-tree.ts'

export type PackageLists = ReturnType<typeof createPackageLists>

const LISTS = 'var/lib/apt/lists'
const PREFERENCES = 'etc/apt/preferences'
/** apt ignores other names. */
const PREFERENCES_NAME = /^[\w-]+(?:\.pref)?$/

/** The lists that the last `apt-get update` left below `root`. */
export const createPackageLists = (root: string) => {
  const tree = createFileTree(root)
  /** Stanzas by list: a list is read again when it has changed. */
  let cache: ReadonlyMap<string, readonly string[]> = new Map()
  return {
    /** What the files of apt report about a package; null if this host has no lists of apt. Throws a SourceError. */
    read: async (name: string, signal: AbortSignal) => {
      const names = await tree.list(LISTS)
      if (names === null) return null
      const next = new Map<string, readonly string[]>()
      for (const list of names.filter((one) => one.endsWith('_Packages'))) {
        const path = join(root, LISTS, list)
        const facts = await atFile(path, () => stat(path)).catch(ifMissing(undefined))
        if (!facts) continue
        const key = `${name} ${path} ${facts.ino} ${facts.size} ${facts.mtimeMs}`
        const stanzas = cache.get(key) ?? (await stanzasIn(path, name, signal))
        next.set(key, stanzas)
        // Kept even if the deadline ends this reading: the next one resumes with the following list.
        cache = new Map([...cache, [key, stanzas]])
      }
      cache = next
      return {
        /** The lines Version and Architecture of its stanzas in the lists: one of each version. */
        stanzas: [...next.values()].flat(),
        /** The number of lists that are compressed and were not read. */
        compressed: names.filter((one) => /_Packages\.\w+$/.test(one)).length,
        preferences: await readPreferences(),
      }
    },
  }

  async function readPreferences(): Promise<readonly string[]> {
    const names = ((await tree.list(`${PREFERENCES}.d`)) ?? []).filter((name) => PREFERENCES_NAME.test(name))
    // The order of apt, in which the first matching stanza decides.
    const paths = [...names.toSorted().map((name) => `${PREFERENCES}.d/${name}`), PREFERENCES]
    const texts: string[] = []
    for (const path of paths) texts.push((await tree.read(path)) ?? '')
    return texts
  }
}

const CHUNK_BYTES = 256 * 1024
/** A stanza has some KB. Its version and architecture are near its beginning. */
const STANZA_BYTES = 64 * 1024

/**
 * Searches the bytes for the name: a list of a distribution has 70 MB, of which none become text. One buffer holds a chunk
 * after the rest of the one before.
 */
const stanzasIn = async (path: string, name: string, signal: AbortSignal): Promise<readonly string[]> => {
  const wanted = `\nPackage: ${name}\n`
  const stanzas: string[] = []
  const buffer = Buffer.alloc(STANZA_BYTES + CHUNK_BYTES)
  /** Takes the stanzas in the first bytes, and returns where the rest begins. */
  const search = (filled: number, isEnd: boolean): number => {
    const data = buffer.subarray(0, filled)
    let at = 0
    for (let begin = data.indexOf(wanted); begin >= 0; begin = data.indexOf(wanted, at)) {
      const end = data.indexOf('\n\n', begin + 1)
      if (end < 0 && !isEnd && filled - begin < STANZA_BYTES) return begin
      const stanza = data.subarray(begin + 1, end < 0 ? filled : end)
      stanzas.push(`${lineOf(stanza, 'Version')}\n${lineOf(stanza, 'Architecture')}`)
      at = begin + wanted.length - 1
    }
    return Math.max(at, filled - wanted.length)
  }
  try {
    const opening = atFile(path, () => openRegular(path))
    await withFile(opening, async (file) => {
      let filled = buffer.write('\n')
      for (let bytesRead = 1; bytesRead > 0;) {
        signal.throwIfAborted()
        const from = filled
        ;({ bytesRead } = await atFile(path, () => file.read(buffer, from, buffer.length - from)))
        const rest = search(filled + bytesRead, bytesRead === 0)
        filled = buffer.copy(buffer, 0, rest, filled + bytesRead)
      }
    })
    return stanzas
  } catch (error) {
    signal.throwIfAborted()
    throw fileError(error, { doing: `read ${path}`, advice: undefined })
  }
}

const LINE_BYTES = 256

/** The line of a field; empty if there is none. The rest of a stanza is not kept: 30,000 of them had 46 MB. */
const lineOf = (stanza: Buffer, field: string): string => {
  const begin = stanza.indexOf(`\n${field}:`) + 1
  if (begin === 0) return ''
  const end = stanza.indexOf('\n', begin)
  return stanza.toString('utf8', begin, Math.min(end < 0 ? stanza.length : end, begin + LINE_BYTES))
}

export type InstalledFiles = ReturnType<typeof createInstalledFiles>

/**
 * What changes when a package or a program is installed again, without a process; null if that is not known. `root`: the
 * directory that has `var/lib/dpkg/status`.
 */
export const createInstalledFiles = ({ root, path }: { readonly root: string; readonly path: string }) => ({
  /** Of the packages that dpkg has installed or holds: it replaces its file at each change. */
  packages: async () => fileVersion(join(root, 'var/lib/dpkg/status')),
  /** Of the first file of that name on the search path. */
  program: async (name: string): Promise<string | null> => {
    for (const directory of path.split(':')) {
      const found = await fileVersion(join(directory, name))
      if (found !== null) return found
    }
    return null
  },
})

/** A text that differs when the file was written or replaced. Null if it does not exist or cannot be read. */
const fileVersion = async (path: string): Promise<string | null> => {
  try {
    const { ino, size, mtimeMs } = await atFile(path, async () => stat(path))
    return `${path} ${ino} ${size} ${mtimeMs}`
  } catch {
    return null
  }
}
