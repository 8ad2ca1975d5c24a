import { lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode, fileError, FileError, ifMissing, type SourceError } from '../core/errors.ts'
import { atStateFile, readText } from '../core/files.ts'
import { utc } from '../core/format.ts'
import { LIMITS } from '../core/limits.ts'
import { makeDirectory, writeAtomically } from './durable.ts'

export interface IncidentFile {
  readonly id: string
  readonly bytes: number
}

/** What is kept: the newest incidents, in at most `LIMITS.state.incidentsBytes` together. */
export const MAX_INCIDENTS = 20
/** One has at most 6 MiB of log lines, which can take twice that in JSON, and 2 MiB of everything else. */
const MAX_FILE_BYTES = 16 * 1024 * 1024

const NAME = /^(\d{8}-\d{6})\.json$/
const TORN = /^\d{8}-\d{6}\.json\.new$/

/** The id of an incident at this time, in UTC. From 16 characters on redaction takes a word for a secret. */
export const incidentId = (at: number): string =>
  utc(at).slice(0, 'YYYY-MM-DDThh:mm:ss'.length).replaceAll(/[-:]/g, '').replace('T', '-')

/** The directory of the incidents in the agent's state directory. */
export const incidentDirectory = (stateDirectory: string): string => join(stateDirectory, 'incidents')

const fileOf = (directory: string, id: string): string => join(directory, `${id}.json`)

/** The stored incidents, oldest first; none if there is no directory yet. Only regular files. Throws a SourceError. */
export const listIncidents = async (directory: string): Promise<readonly IncidentFile[]> => {
  try {
    const names = await readdir(directory).catch(ifMissing([]))
    const ids = names.flatMap((name) => NAME.exec(name)?.[1] ?? []).toSorted()
    const files = ids.map(async (id) => {
      const info = await lstat(fileOf(directory, id)).catch(ifMissing(undefined))
      return info?.isFile() ? [{ id, bytes: info.size }] : []
    })
    return (await Promise.all(files)).flat()
  } catch (error) {
    throw failed(`list the incidents in ${directory}`, error)
  }
}

/** The text of a listed incident. Throws a SourceError. */
export const readIncidentFile = async (directory: string, id: string): Promise<string> => {
  const file = fileOf(directory, id)
  return readText(file, MAX_FILE_BYTES, atStateFile).catch((error: unknown) => {
    throw failed(`read ${file}`, error)
  })
}

/**
 * Replaces an incident, and removes the oldest ones beyond the limits. Removes only files that the agent has written: of
 * the incidents those in `own`. Returns the ids of its own that are left. Throws an error of the file system.
 */
export const writeIncidentFile = (
  directory: string,
  { id, text }: { readonly id: string; readonly text: string },
  own: ReadonlySet<string>,
): Promise<readonly string[]> =>
  atStateFile(directory, async () => {
    await makeDirectory(directory, 0o750)
    if (!(await lstat(directory)).isDirectory())
      throw new FileError('EFTYPE', directory, 'it is not a directory, and the agent does not follow symbolic links')
    await writeAtomically(fileOf(directory, id), [text], { mode: 0o640 })
    // An agent that was killed leaves a file that is not complete.
    const all = await readdir(directory, { withFileTypes: true })
    const torn = all.filter((entry) => entry.isFile() && TORN.test(entry.name))
    for (const { name } of torn) await rm(join(directory, name), { force: true })
    const kept: string[] = []
    let bytes = 0
    for (const file of (await listIncidents(directory)).toReversed()) {
      if (file.id !== id && !own.has(file.id)) continue
      bytes += file.bytes
      if (file.id === id || (kept.length < MAX_INCIDENTS && bytes <= LIMITS.state.incidentsBytes)) kept.push(file.id)
      else await rm(fileOf(directory, file.id), { force: true })
    }
    return kept
  })

const failed = (doing: string, error: unknown): SourceError =>
  fileError(error, {
    doing,
    advice: errorCode(error) === 'EACCES' ? "run this as root or as the agent's user" : undefined,
  })
