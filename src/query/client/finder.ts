/**
 * Finds any of some words in bytes, after Horspool: most digits of a log are stepped over unseen.
 * `Buffer.indexOf` looks at all of them, once for each word.
 */
export class Finder {
  /** Which word was found. */
  word = 0
  readonly #words: readonly Buffer[]
  /** As long as the shortest word. Words are looked for by their ends, which here are quotes: no digit is one. */
  readonly #width: number
  /** By the byte at the end of the window: how far it may be moved; 0 where a word may be there. */
  readonly #steps: Uint8Array
  /** 1 for what any word has as its last byte but one: most ends that are met are of no word. */
  readonly #before = new Uint8Array(256)

  constructor(words: readonly string[]) {
    this.#words = words.map((word) => Buffer.from(word, 'latin1'))
    this.#width = Math.min(...words.map((word) => word.length))
    this.#steps = new Uint8Array(256).fill(this.#width)
    for (const word of this.#words) {
      this.#before[word.at(-2) ?? 0] = 1
      word.subarray(-this.#width).forEach((byte, at) => {
        this.#steps[byte] = Math.min(this.#steps[byte] ?? 0, this.#width - 1 - at)
      })
    }
  }

  /** Where the next word ends, of those that begin at `from` or later; -1 where there is none. */
  find(bytes: Uint8Array, from: number): number {
    const steps = this.#steps
    const before = this.#before
    const end = bytes.length
    for (let at = from + this.#width - 1; at < end;) {
      const step = steps[bytes[at] ?? 0] ?? 1
      const isNear = step === 0 && before[bytes[at - 1] ?? 0] === 1
      if (isNear && this.#endsAt(bytes, { at, from })) return at + 1
      at += step === 0 ? 1 : step
    }
    return -1
  }

  #endsAt(
    bytes: Uint8Array,
    { at, from }: { readonly at: number; readonly from: number },
  ): boolean {
    for (const [index, word] of this.#words.entries()) {
      const start = at + 1 - word.length
      if (start < from || !isAt(bytes, start, word)) continue
      this.word = index
      return true
    }
    return false
  }
}

const isAt = (bytes: Uint8Array, start: number, word: Buffer): boolean => {
  for (let at = word.length - 1; at >= 0; at -= 1) {
    if (bytes[start + at] !== word[at]) return false
  }
  return true
}
