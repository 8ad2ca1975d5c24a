import { mkdtemp, readdir, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MEMORY = '/dev/shm'
const BYTES_PER_NODE = 8e6

/** Memory where it has room: a fleet writes small files all the time, and a disk takes seconds to remove them. */
export const placeFor = async (size: number): Promise<string> => {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return free > size * BYTES_PER_NODE ? MEMORY : tmpdir()
}

/** A directory for the files of a fleet of this process. */
export const makeDirectory = async (place: string): Promise<string> =>
  await mkdtemp(join(place, `chain-fleet-${process.pid}-`))

/** Removes what fleets left that were killed: memory that nobody else would give back. */
export const removeLeftovers = async (places: readonly string[] = [MEMORY, tmpdir()]) => {
  for (const place of new Set(places)) {
    const names = await readdir(place).catch(() => [])
    const left = names.filter((name) => {
      const [, pid] = /^chain-fleet-(\d+)-[A-Za-z0-9]{6}$/.exec(name) ?? []
      return pid !== undefined && !isAlive(Number(pid))
    })
    // Somebody else's stay.
    for (const name of left)
      await rm(join(place, name), { recursive: true, force: true }).catch(() => undefined)
  }
}

/** Whether there is such a process; one of somebody else may not be asked, and is there. */
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}
