import { constants } from 'node:fs'
import { chmod, copyFile, link, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errorCode, isNotFound } from '../core/file-errors.ts'

const PRIVATE_FOLDER = 0o700
const USUAL_FOLDER = 0o755

/** Syncs a directory: a new file name is on disk only when its directory is. */
export const syncFolder = async (folder: string): Promise<void> => {
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } catch (error) {
    // Some file systems of USB sticks and networks do not support it.
    if (errorCode(error) !== 'EINVAL') throw error
  } finally {
    await handle.close()
  }
}

/** Creates a directory accessible only by its owner; missing parents get the usual mode, whatever the umask. */
export const makeFolder = async (path: string): Promise<void> => {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER })
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return
    if (!isNotFound(error) || dirname(path) === path) throw error
    await makeParent(dirname(path))
    await mkdir(path, { mode: PRIVATE_FOLDER })
  }
  await syncFolder(dirname(path))
}

const makeParent = async (path: string): Promise<void> => {
  try {
    await mkdir(path)
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return
    if (!isNotFound(error) || dirname(path) === path) throw error
    await makeParent(dirname(path))
    await mkdir(path)
  }
  await chmod(path, USUAL_FOLDER)
  await syncFolder(dirname(path))
}

/**
 * Creates a directory and its missing parents with the same mode. Not `recursive: true`: Node 20 retries forever on a
 * file system that cannot create directories, such as /proc.
 */
export const makeDirectory = async (path: string, mode: number): Promise<void> => {
  try {
    await mkdir(path, { mode })
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return
    if (!isNotFound(error) || dirname(path) === path) throw error
    await makeDirectory(dirname(path), mode)
    await mkdir(path, { mode })
  }
}

/** Creates a hard link, or a copy if hard links are not supported. Throws EEXIST if the name is taken. */
export const linkOrCopy = async (path: string, other: string): Promise<void> => {
  try {
    await link(path, other)
  } catch (error) {
    if (!KNOWS_NO_LINKS.has(errorCode(error))) throw error
    await copyFile(path, other, constants.COPYFILE_EXCL)
    const handle = await open(other, constants.O_RDONLY)
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  }
}

/** Errors of vfat and others without hard links; Linux returns EPERM. */
const KNOWS_NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])
