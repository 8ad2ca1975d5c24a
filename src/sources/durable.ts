import { constants } from 'node:fs'
import { chmod, copyFile, link, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, isMissing } from './missing.ts'

const PRIVATE_FOLDER = 0o700
const USUAL_FOLDER = 0o755

/** A name is on the disk when its folder is. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } catch (error) {
    // Some file systems of sticks and of the network know no such thing.
    if (codeOf(error) !== 'EINVAL') throw error
  } finally {
    await handle.close()
  }
}

/** A folder for its owner alone; what is missing above it is as folders are, whatever the umask. */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER })
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (!isMissing(error) || dirname(path) === path) throw error
    await makeParent(dirname(path))
    await mkdir(path, { mode: PRIVATE_FOLDER })
  }
  await syncFolder(dirname(path))
}

const makeParent = async (path: string): Promise<void> => {
  try {
    await mkdir(path)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (!isMissing(error) || dirname(path) === path) throw error
    await makeParent(dirname(path))
    await mkdir(path)
  }
  await chmod(path, USUAL_FOLDER)
  await syncFolder(dirname(path))
}

/**
 * A directory, and with the same mode what is missing above it. Not `recursive: true`: Node 20 retries for ever on a
 * file system that makes no directories, such as /proc.
 */
export const makeDirectory = async (path: string, mode: number): Promise<void> => {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return
    if (!isMissing(error) || dirname(path) === path) throw error
    await makeDirectory(dirname(path), mode)
    await mkdir(path, { mode })
  }
}

/** The file gets a second name, or where names are single, a copy. EEXIST where the name is taken. */
export const linkOrCopy = async (path: string, other: string): Promise<void> => {
  try {
    await link(path, other)
  } catch (error) {
    if (!KNOWS_NO_LINKS.has(codeOf(error))) throw error
    await copyFile(path, other, constants.COPYFILE_EXCL)
    const handle = await open(other, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

/** vfat and others; EPERM is what Linux says there. */
const KNOWS_NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
