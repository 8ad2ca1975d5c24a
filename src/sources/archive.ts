import { access, constants, link, lstat, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { packTar } from 'modern-tar'
import { SourceError } from '../core/errors.ts'
import { accountOf } from '../core/file-errors.ts'
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

/** Whether `writeNewFile` can write there, before the work to fill it. Throws a SourceError. */
export const checkNewFile = async (file: string): Promise<void> => {
  try {
    await access(`${dirname(file)}/`, constants.W_OK)
  } catch (error) {
    throw cannotWrite(file, error)
  }
  for (const taken of [file, `${file}.partial`]) {
    // A link to nothing is in the way, too.
    if (await lstat(taken).catch(() => null)) throw cannotWrite(taken, EXISTS)
  }
}

const EXISTS = Object.assign(new Error('it exists'), { code: 'EEXIST' })

const cannotWrite = (file: string, error: unknown): SourceError => {
  const code = codeOf(error)
  const happened = code === 'ENOENT' ? 'there is no such directory' : accountOf(error).happened
  return new SourceError(
    {
      doing: `write ${redact(file)}`,
      happened,
      advice:
        code === 'EEXIST'
          ? 'remove it, or name another file with --output'
          : 'name a file in a directory that you may write to with --output',
    },
    { cause: error },
  )
}
