/** Writes ASCII into bytes whose number was worked out before. */
export class ByteWriter {
  readonly #bytes: Buffer
  #at = 0

  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafe(size)
  }

  text(text: string): void {
    const written = this.#bytes.write(text, this.#at, 'latin1')
    if (written !== text.length) throw new RangeError('an answer is longer than was worked out')
    this.#at += written
  }

  /** Keys are short: a loop is faster than a call. */
  copy(part: Uint8Array): void {
    const bytes = this.#bytes
    const start = this.#at
    const { length } = part
    for (let at = 0; at < length; at += 1) bytes[start + at] = part[at] ?? 0
    this.#at = start + length
  }

  byte(byte: number): void {
    this.#bytes[this.#at] = byte
    this.#at += 1
  }

  /** Only what was written: the rest of the memory is nobody's business. */
  done(): Buffer {
    if (this.#at > this.#bytes.length)
      throw new RangeError('an answer is longer than was worked out')
    return this.#bytes.subarray(0, this.#at)
  }
}
