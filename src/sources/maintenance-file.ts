import { constants } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { SourceError } from '../core/errors.ts'
import { type Maintenance, readMaintenance } from '../core/maintenance.ts'
import { asError } from '../core/outcome.ts'
import { createCheckpoints } from './checkpoint.ts'
import { makeDirectory } from './durable.ts'

const MAINTENANCE = 'maintenance'

/** The maintenance window that an operator sets: a file, so that it persists over restarts. */
export interface MaintenanceFile {
  /** Undefined if no window is set. An expired window is returned too. */
  read(): Promise<Maintenance | undefined>
  /** Throws a SourceError if the directory cannot be written. */
  write(maintenance: Maintenance): Promise<void>
  /** Removes the window; false if there was none. */
  end(): Promise<boolean>
}

export const createMaintenanceFile = (directory: string): MaintenanceFile => {
  const file = join(directory, `${MAINTENANCE}.json`)
  const failed = (doing: string, cause: Error): SourceError =>
    new SourceError(
      {
        doing,
        happened: cause.message,
        advice: 'run the command with sudo, or as the user of the agent, and with its configuration',
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
      if (complaint) throw failed('read the maintenance window', complaint)
      return found.state === 'saved' ? readMaintenance(found.value) : undefined
    },
    write: async (maintenance) => {
      try {
        await makeDirectory(directory, 0o750)
        await writeAsOwner(directory, file, JSON.stringify(maintenance))
      } catch (error) {
        throw failed('write the maintenance window', asError(error))
      }
    },
    end: async () => {
      try {
        await rm(file)
        return true
      } catch (error) {
        const cause = asError(error)
        if ('code' in cause && cause.code === 'ENOENT') return false
        throw failed('end the maintenance window', cause)
      }
    },
  }
}

/**
 * Root writes into the agent's directory: it follows no link there, and changes the owner only of the file that it has
 * just created, before the file gets its final name.
 */
const writeAsOwner = async (directory: string, file: string, text: string): Promise<void> => {
  await rm(`${file}.new`, { force: true })
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const handle = await open(`${file}.new`, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o640)
  try {
    await handle.writeFile(text)
    if (process.getuid?.() === 0) {
      const { uid, gid } = await stat(directory)
      await handle.chown(uid, gid)
    }
  } finally {
    await handle.close()
  }
  await rename(`${file}.new`, file)
}
