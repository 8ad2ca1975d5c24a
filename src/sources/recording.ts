import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { SourceError } from '../core/errors.ts'
import { describeFileError } from '../core/file-errors.ts'
import { createLineSplitter } from './lines.ts'
import type { EntryBatch } from './journal-range.ts'

/** A journal exported to a file: lines of `journalctl -o json`. */
export interface Recording {
  /** The name as the operator gave it. */
  readonly name: string
  readonly bytes: Readable
}

export const openRecording = (file: string): Recording => ({
  name: file,
  bytes: createReadStream(file, { highWaterMark: 256 * 1024 }),
})

/** Reads a recording from start to end. Throws a SourceError if it cannot be read. */
export async function* readRecording<Entry>(
  { name, bytes }: Recording,
  /** Throws if the line is not an entry. */
  parse: (line: string) => Entry,
): AsyncGenerator<EntryBatch<Entry>> {
  const split = createLineSplitter()
  const entriesOf = (lines: ReturnType<typeof split>): EntryBatch<Entry> => {
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
    // The last line of a file may lack a line break.
    yield entriesOf(split(Buffer.from('\n')))
  } catch (error) {
    throw new SourceError(
      {
        doing: `read the recording ${name}`,
        happened: describeFileError(error).happened,
        advice: 'name a file of `journalctl --all -o json`, or - for standard input',
      },
      { cause: error },
    )
  }
}
