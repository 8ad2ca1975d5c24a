import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { SourceError } from '../core/errors.ts'
import { accountOf } from '../core/file-errors.ts'
import { createLineSplitter } from './lines.ts'
import type { PastBatch } from './past-journal.ts'

/** A journal that somebody has written into a file: lines of `journalctl -o json`. */
export interface Recording {
  /** As the operator named it. */
  readonly name: string
  readonly bytes: Readable
}

export const openRecording = (file: string): Recording => ({
  name: file,
  bytes: createReadStream(file, { highWaterMark: 256 * 1024 }),
})

/** Reads it from its beginning to its end. Throws a SourceError where it cannot be read. */
export async function* readRecording<Entry>(
  { name, bytes }: Recording,
  /** Throws for a line that is no entry. */
  parse: (line: string) => Entry,
): AsyncGenerator<PastBatch<Entry>> {
  const split = createLineSplitter()
  const entriesOf = (lines: ReturnType<typeof split>): PastBatch<Entry> => {
    const entries: Entry[] = []
    let unreadable = 0
    for (const line of lines) {
      if (line === '') continue
      try {
        if (line === undefined) unreadable += 1
        else entries.push(parse(line))
      } catch {
        unreadable += 1
      }
    }
    return { entries, unreadable }
  }
  try {
    const chunks: AsyncIterable<Uint8Array> = bytes
    for await (const chunk of chunks) yield entriesOf(split(chunk))
    // The last line of a file may not be ended.
    yield entriesOf(split(Buffer.from('\n')))
  } catch (error) {
    throw new SourceError(
      {
        doing: `read the recording ${name}`,
        happened: accountOf(error).happened,
        advice: 'name a file of `journalctl --all -o json`, or - for standard input',
      },
      { cause: error },
    )
  }
}
