/** A line of a stream; undefined for a line that was too long. */
export type Line = string | undefined

/** The longest expected lines are shorter. Without a limit, a line without an end would exhaust the memory. */
const MAX_LINE_BYTES = 8 * 1024 * 1024

/** Splits chunks of bytes into complete lines. UTF-8 is decoded per line, never across chunks. */
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
