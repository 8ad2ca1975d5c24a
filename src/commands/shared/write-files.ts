import { readdir, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Io } from '../../terminal/io.ts'
import { fileError, throwFileError } from '../../core/errors.ts'
import { packageFile } from '../../core/package.ts'
import { makeDirectory, writeAtomically } from '../../sources/durable.ts'

/** The text of a file of the package: `what` in the error. Throws a SourceError. */
export const readShipped = (path: string, what: string): Promise<string> => {
  const advice = `install the package again: ${dirname(path)} is part of it`
  return readFile(packageFile(path), 'utf8').catch(throwFileError({ doing: `find ${what}`, advice }))
}

interface Files {
  /** The end of their names: `.rules.yaml`. */
  readonly ending: string
  /** By name. */
  readonly texts: ReadonlyMap<string, string>
}

/**
 * Writes files into a directory, creates it if it is missing, and replaces files of the same name. Reports others with
 * the same ending: after an upgrade they may be files of an earlier version. Throws a SourceError.
 */
export const writeFiles = async (io: Io, directory: string, { ending, texts }: Files): Promise<void> => {
  try {
    await makeDirectory(directory, 0o755)
    for (const [name, text] of texts) await writeAtomically(join(directory, name), [text], { mode: 0o644 })
    const others = (await readdir(directory)).filter((name) => name.endsWith(ending) && !texts.has(name))
    io.stdout.write(`Wrote ${texts.size} files to ${directory}\n`)
    if (others.length > 0)
      io.stderr.write(`Other files in ${directory}, not written by this version: ${others.toSorted().join(', ')}\n`)
  } catch (error) {
    const advice = 'name a directory that you may write to with --output'
    throw fileError(error, { doing: `write to ${directory}`, advice })
  }
}
