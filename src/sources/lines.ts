/** A line of a stream, or undefined in the place of one that was too long to keep. */
export type Line = string | undefined

/** No line of ours is longer; one that is would fill the memory of an agent that waits for its end. */
const MAX_LINE_BYTES = 8 * 1024 * 1024

/** Cuts chunks of bytes into the lines that each completes. UTF-8 is decoded per line, never across a cut. */
export const createLineSplitter = (maxBytes = MAX_LINE_BYTES) => {
  let pending: Uint8Array[] = []
  let size = 0
  let tooLong = false

  const take = (): Line => {
    const line = tooLong ? undefined : Buffer.concat(pending).toString('utf8')
    pending = []
    size = 0
    tooLong = false
    return line
  }
  const keep = (bytes: Uint8Array): void => {
    size += bytes.length
    if (size > maxBytes) {
      tooLong = true
      pending = []
    } else pending.push(bytes)
  }

  return (chunk: Uint8Array): readonly Line[] => {
    const lines: Line[] = []
    let from = 0
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, from)) {
      keep(chunk.subarray(from, at))
      lines.push(take())
      from = at + 1
    }
    if (from < chunk.length) keep(chunk.subarray(from))
    return lines
  }
}
