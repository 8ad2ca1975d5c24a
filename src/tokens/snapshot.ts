import { ParseError } from '../core/errors.ts'
import { addressAt, Limbs, putAddress } from './limbs.ts'

/** "CAL1", the form's name. */
const MAGIC = 0x4341_4c31

/** Numbers and addresses as words, with a checksum at the end. */
export class SnapshotWriter {
  #words = new Int32Array(1024)
  #count = 0
  readonly #limbs = new Limbs()

  /** `title` names whose it is, and must be given to read it. */
  constructor(title: string) {
    this.#put(MAGIC)
    this.#put(sumOf(Buffer.from(title)))
  }

  big(value: bigint): void {
    this.#limbs.set(value)
    this.limbs(this.#limbs.words, 0, this.#limbs.words.length)
  }

  /** A number in so many words, the lowest first, without the words that only carry its sign. */
  limbs(words: Int32Array, at: number, most: number): void {
    const fill = (words[at + most - 1] ?? 0) < 0 ? -1 : 0
    let count = most
    while (count > 0 && words[at + count - 1] === fill) count -= 1
    this.#put(fill === 0 ? count : ~count)
    for (let word = 0; word < count; word += 1) this.#put(words[at + word] ?? 0)
  }

  address(address: string): void {
    this.#room(5)
    putAddress(address, this.#words, this.#count)
    this.#count += 5
  }

  addressWords(words: Int32Array, at: number): void {
    for (let word = 0; word < 5; word += 1) this.#put(words[at + word] ?? 0)
  }

  end(): Uint8Array {
    this.#put(sumOf(new Uint8Array(this.#words.buffer, 0, this.#count * 4)))
    return new Uint8Array(this.#words.buffer, 0, this.#count * 4)
  }

  #put(word: number): void {
    this.#room(1)
    this.#words[this.#count] = word
    this.#count += 1
  }

  #room(more: number): void {
    if (this.#count + more <= this.#words.length) return
    const grown = new Int32Array(2 * this.#words.length)
    grown.set(this.#words)
    this.#words = grown
  }
}

/** Throws ParseError where it is damaged, or has another title. */
export class SnapshotReader {
  readonly #words: Int32Array
  #at = 2
  readonly #limbs = new Limbs()

  constructor(bytes: Uint8Array, title: string) {
    const words = new Int32Array(new Uint8Array(bytes).buffer, 0, Math.floor(bytes.length / 4))
    this.#words = words.subarray(0, -1)
    const isWhole = bytes.length % 4 === 0 && words.length > 2 && words[0] === MAGIC
    if (!isWhole || words.at(-1) !== sumOf(bytes.subarray(0, -4))) {
      throw new ParseError('the saved balances', 'all of them, as they were written', '')
    }
    if (words[1] !== sumOf(Buffer.from(title))) {
      throw new ParseError('the saved balances', `those of ${title}`, '')
    }
  }

  isAtEnd(): boolean {
    return this.#at >= this.#words.length
  }

  big(): bigint {
    const head = this.#next()
    const [count, fill] = head < 0 ? [~head, -1] : [head, 0]
    for (let word = 0; word < this.#limbs.words.length; word += 1) {
      this.#limbs.words[word] = word < count ? this.#next() : fill
    }
    return this.#limbs.get()
  }

  address(): string {
    this.#at += 5
    return addressAt(this.#words, this.#at - 5)
  }

  #next(): number {
    this.#at += 1
    return this.#words[this.#at - 1] ?? 0
  }
}

/** FNV-1a: shows what was cut or changed by accident. */
const sumOf = (bytes: Uint8Array): number => {
  let sum = 0x811c_9dc5
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x0100_0193)
  return sum | 0
}
