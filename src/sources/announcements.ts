import { chown, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { type Maintenance, readMaintenance } from '../core/maintenance.ts'
import { asError } from '../core/outcome.ts'
import { createCheckpoints } from './checkpoint.ts'

const MAINTENANCE = 'maintenance'

/** What an operator announces to the agent: through a file, so that it outlives both. */
export interface Announcements {
  /** Undefined when nothing is announced; what has run out is still told. */
  read(): Promise<Maintenance | undefined>
  /** Throws a SourceError where the directory cannot be written. */
  write(maintenance: Maintenance): Promise<void>
  /** Whether there was something to end. */
  end(): Promise<boolean>
}

export const createAnnouncements = (directory: string): Announcements => {
  const file = join(directory, `${MAINTENANCE}.json`)
  const failed = (doing: string, cause: Error): SourceError =>
    new SourceError(
      {
        doing,
        happened: cause.message,
        advice: "run this as root or as the agent's user, and with the agent's configuration",
      },
      { cause },
    )
  return {
    read: async () => {
      let complaint: Error | undefined
      const found = await createCheckpoints(directory, (error) => {
        complaint = error
      })
        .open(MAINTENANCE)
        .read()
      if (complaint) throw failed('read what was announced', complaint)
      return found.state === 'saved' ? readMaintenance(found.value) : undefined
    },
    write: async (maintenance) => {
      let complaint: Error | undefined
      const checkpoints = createCheckpoints(directory, (error) => {
        complaint = error
      })
      checkpoints.open(MAINTENANCE).save(maintenance)
      await checkpoints.flush()
      if (complaint) throw failed('announce maintenance', complaint)
      // Announced by root, it must still be readable by the agent, whose directory it is.
      const { uid, gid } = await stat(directory)
      if (process.getuid?.() === 0) await chown(file, uid, gid)
    },
    end: async () => {
      try {
        await rm(file)
        return true
      } catch (error) {
        const cause = asError(error)
        if ('code' in cause && cause.code === 'ENOENT') return false
        throw failed('end the maintenance', cause)
      }
    },
  }
}
