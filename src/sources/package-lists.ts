import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, ifMissing, SourceError } from '../core/errors.ts'
import { createFileTree } from './file-tree.ts'

/** What the files of apt report about a package. */
export interface PackageListing {
  /** Its stanzas in the lists: one of each version. */
  readonly stanzas: readonly string[]
  /** The number of lists that are compressed and were not read. */
  readonly compressed: number
  /** The texts of the preferences. */
  readonly preferences: readonly string[]
}

export interface PackageLists {
  /** Null if this host has no lists of apt. Throws a SourceError. */
  read(name: string, signal: AbortSignal): Promise<PackageListing | null>
}

const LISTS = 'var/lib/apt/lists'
const PREFERENCES = 'etc/apt/preferences'
/** apt ignores other names. */
const PREFERENCES_NAME = /^[\w-]+(?:\.pref)?$/

/** Reads the lists that the last `apt-get update` left below `root`. */
export const createPackageLists = (root: string): PackageLists => {
  const tree = createFileTree(root)
  /** Stanzas by list: a list is read again when it has changed. */
  let cache: ReadonlyMap<string, readonly string[]> = new Map()
  return {
    read: async (name, signal) => {
      const names = await tree.list(LISTS)
      if (names === null) return null
      const next = new Map<string, readonly string[]>()
      for (const list of names.filter((one) => one.endsWith('_Packages'))) {
        const path = join(root, LISTS, list)
        const facts = await stat(path).catch(ifMissing(undefined))
        if (!facts) continue
        const key = `${name} ${path} ${facts.ino} ${facts.size} ${facts.mtimeMs}`
        const stanzas = cache.get(key) ?? (await stanzasIn(path, name, signal))
        next.set(key, stanzas)
        // Kept even if the deadline ends this reading: the next one resumes with the following list.
        cache = new Map([...cache, [key, stanzas]])
      }
      cache = next
      return {
        stanzas: [...next.values()].flat(),
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
/** A stanza has some KB. Its version is near its beginning. */
const STANZA_BYTES = 64 * 1024
const NEWLINE = Buffer.from('\n')

/** Searches the bytes for the name: a list of a distribution has 70 MB, of which none become text. */
const stanzasIn = async (path: string, name: string, signal: AbortSignal): Promise<readonly string[]> => {
  const wanted = `\nPackage: ${name}\n`
  const stanzas: string[] = []
  const take = (stanza: Buffer): void => {
    stanzas.push(stanza.toString('utf8', 1, STANZA_BYTES))
  }
  try {
    let rest: Buffer = NEWLINE
    for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES, signal })) {
      const data: Buffer = Buffer.concat([rest, Buffer.from(chunk)])
      let at = 0
      for (;;) {
        const begin = data.indexOf(wanted, at)
        if (begin < 0) {
          rest = data.subarray(Math.max(at, data.length - wanted.length))
          break
        }
        const end = data.indexOf('\n\n', begin + 1)
        if (end < 0 && data.length - begin < STANZA_BYTES) {
          rest = data.subarray(begin)
          break
        }
        take(data.subarray(begin, end < 0 ? undefined : end))
        at = begin + wanted.length - 1
      }
    }
    if (rest.indexOf(wanted) === 0) take(rest)
    return stanzas
  } catch (error) {
    signal.throwIfAborted()
    throw new SourceError({ doing: `read ${path}`, happened: errorCode(error) }, { cause: error })
  }
}
