import { access, constants, lstat, open, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { packTar } from 'modern-tar'
import { describeFileError, errorCode, SourceError } from '../core/errors.ts'
import { withFile } from '../core/files.ts'
import { redact } from '../core/redaction/redact.ts'
import { linkOrCopy } from './durable.ts'

const compress = promisify(gzip)
const MODE = 0o600

/** Creates a .tar.gz archive of texts. `at` is their modification time in milliseconds since the epoch. */
export const packArchive = async (
  texts: readonly { readonly name: string; readonly text: string }[],
  at: number,
): Promise<Uint8Array> => {
  const tar = await packTar(
    texts.map(({ name, text }) => {
      const body = Buffer.from(text)
      return { header: { name, size: body.length, mode: MODE, mtime: new Date(at) }, body }
    }),
  )
  return compress(tar)
}

/**
 * Writes a new file, either completely or not at all, readable only by its owner. Never overwrites a file. Throws a
 * SourceError.
 */
export const writeNewFile = async (file: string, bytes: Uint8Array): Promise<void> => {
  const partial = `${file}.partial`
  // Fails if the path exists, even as a link to another file.
  const handle = await open(partial, 'wx', MODE).catch((error: unknown) => {
    throw cannotWrite(errorCode(error) === 'EEXIST' ? partial : file, error)
  })
  try {
    await withFile(handle, async () => {
      await handle.chmod(MODE)
      await handle.writeFile(bytes)
      await handle.sync()
    })
    // Unlike a rename, fails if the name is taken.
    await linkOrCopy(partial, file)
    await unlink(partial)
  } catch (error) {
    await unlink(partial).catch(() => undefined)
    throw cannotWrite(file, error)
  }
}

/** Checks in advance that `writeNewFile` can write the file. Throws a SourceError. */
export const checkNewFile = async (file: string): Promise<void> => {
  try {
    await access(`${dirname(file)}/`, constants.W_OK)
  } catch (error) {
    throw cannotWrite(file, error)
  }
  for (const taken of [file, `${file}.partial`]) {
    // A dangling link also prevents it.
    if (await lstat(taken).catch(() => null)) throw cannotWrite(taken, EXISTS)
  }
}

const EXISTS = Object.assign(new Error('it exists'), { code: 'EEXIST' })

const cannotWrite = (file: string, error: unknown): SourceError => {
  const code = errorCode(error)
  const happened = code === 'ENOENT' ? 'there is no such directory' : describeFileError(error).happened
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
