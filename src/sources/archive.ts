import { link, open, rename, unlink } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { packTar } from 'modern-tar'
import { SourceError } from '../core/errors.ts'
import { redact } from '../core/redact.ts'
import { codeOf } from './missing.ts'

interface Packed {
  /** Its path inside the archive. */
  readonly name: string
  readonly text: string
}

const compress = promisify(gzip)
/** For nobody but whoever made it. */
const MODE = 0o600

/** A .tar.gz of texts. `at` is when they were written, in milliseconds since the epoch. */
export const packArchive = async (texts: readonly Packed[], at: number): Promise<Uint8Array> => {
  const tar = await packTar(
    texts.map(({ name, text }) => {
      const body = Buffer.from(text)
      return { header: { name, size: body.length, mode: MODE, mtime: new Date(at) }, body }
    }),
  )
  return compress(tar)
}

/**
 * Writes a file that is whole or not there, that nobody else may read, and that takes nothing's place.
 * Throws a SourceError.
 */
export const writeNewFile = async (file: string, bytes: Uint8Array): Promise<void> => {
  const partial = `${file}.partial`
  try {
    // Fails where there is something, be it a link to somewhere else.
    const handle = await open(partial, 'wx', MODE)
    try {
      await handle.chmod(MODE)
      await handle.writeFile(bytes)
      await handle.sync()
    } catch (error) {
      await unlink(partial).catch(() => undefined)
      throw error
    } finally {
      await handle.close()
    }
  } catch (error) {
    throw cannotWrite(codeOf(error) === 'EEXIST' ? partial : file, error)
  }
  try {
    await place(partial, file)
  } catch (error) {
    await unlink(partial).catch(() => undefined)
    throw cannotWrite(file, error)
  }
}

/** Fails where the name is taken, as renaming would not. */
const place = async (partial: string, file: string): Promise<void> => {
  try {
    await link(partial, file)
    await unlink(partial)
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'ENOSYS'].includes(codeOf(error))) throw error
    // A file system without hard links: the name is taken first, and then over.
    await (await open(file, 'wx', MODE)).close()
    await rename(partial, file)
  }
}

const cannotWrite = (file: string, error: unknown): SourceError => {
  const code = codeOf(error)
  return new SourceError(
    {
      doing: `write ${redact(file)}`,
      happened: code === 'EEXIST' ? 'there is such a file already' : code,
      advice:
        code === 'EEXIST'
          ? 'remove it, or name another with --output'
          : 'name a file in a directory that you may write to with --output',
    },
    { cause: error },
  )
}
