import type { Readable } from 'node:stream'
import { fileError, SourceError } from '../../core/errors.ts'
import { openStream } from '../../core/files.ts'
import { size as sizeOf } from '../../core/format.ts'
import type { Io } from '../../terminal/io.ts'

/** For files that an operator inspects; the agent itself reads with lower limits. */
const MAX_BYTES = 256 * 1024 * 1024

/** The text of a file that an operator names; `-` is standard input. Throws a SourceError. */
export const readInput = async ({ stdin, signal }: Pick<Io, 'stdin' | 'signal'>, file: string): Promise<string> =>
  file === '-' ? readAll(stdin, 'standard input') : readAll(openStream(file, signal), file)

const readAll = async (input: Readable, name: string): Promise<string> => {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    const stream: AsyncIterable<Uint8Array> = input
    for await (const bytes of stream) {
      size += bytes.length
      if (size > MAX_BYTES) {
        throw new SourceError({ doing: `read ${name}`, happened: `it is larger than ${sizeOf(MAX_BYTES)}` })
      }
      chunks.push(bytes)
    }
  } catch (error) {
    if (error instanceof SourceError) throw error
    throw fileError(error, { doing: `read ${name}` })
  }
  return Buffer.concat(chunks).toString('utf8')
}
