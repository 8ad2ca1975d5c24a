/** A balance is nine words of 32 bits, the lowest first, in two's complement: the sum of 2^31 amounts of 256 bits fits. */
export const LIMBS = 9

const LONG_BITS = 64n

/** Converts between bigint and words: set one, read the other. */
export class Limbs {
  readonly words = new Int32Array(LIMBS + 1)
  readonly #long = new BigUint64Array(this.words.buffer)

  set(value: bigint): void {
    let rest = BigInt.asUintN(320, value)
    for (let at = 0; at < 5; at += 1) {
      this.#long[at] = BigInt.asUintN(64, rest)
      rest >>= LONG_BITS
    }
  }

  /** Copies nine words of another array and extends their sign. */
  copy(source: Int32Array, at: number): void {
    for (let limb = 0; limb < LIMBS; limb += 1) this.words[limb] = source[at + limb] ?? 0
    this.words[LIMBS] = (this.words[LIMBS - 1] ?? 0) >> 31
  }

  get(): bigint {
    let value = 0n
    for (let at = 4; at >= 0; at -= 1) {
      const part = this.#long[at] ?? 0n
      if (part !== 0n || value !== 0n) value = (value << LONG_BITS) | part
    }
    return BigInt.asIntN(320, value)
  }
}

/** Writes an address as five words, the lowest first. */
export const putAddress = (address: string, words: Int32Array, at: number): void => {
  for (let word = 0; word < 5; word += 1) {
    words[at + word] = Number.parseInt(address.slice(34 - 8 * word, 42 - 8 * word), 16)
  }
}

const ADDRESS = Buffer.alloc(20)

export const addressAt = (words: Int32Array, at: number): string => {
  for (let word = 0; word < 5; word += 1) ADDRESS.writeInt32BE(words[at + 4 - word] ?? 0, 4 * word)
  return `0x${ADDRESS.toString('hex')}`
}

/** Adds amounts of eight words in one array to balances in other arrays. */
export class Adder {
  amounts = new Int32Array(0)

  add(balances: Int32Array, at: number, from: number): void {
    const { amounts } = this
    let carry = 0
    for (let limb = 0; limb < 8; limb += 1) {
      const a = balances[at + limb] ?? 0
      const b = amounts[from + limb] ?? 0
      const sum = (a + b + carry) | 0
      carry = ((a & b) | ((a | b) & ~sum)) >>> 31
      balances[at + limb] = sum
    }
    balances[at + 8] = ((balances[at + 8] ?? 0) + carry) | 0
  }

  subtract(balances: Int32Array, at: number, from: number): void {
    const { amounts } = this
    let borrow = 0
    for (let limb = 0; limb < 8; limb += 1) {
      const a = balances[at + limb] ?? 0
      const b = amounts[from + limb] ?? 0
      const difference = (a - b - borrow) | 0
      borrow = ((~a & b) | ((~a | b) & difference)) >>> 31
      balances[at + limb] = difference
    }
    balances[at + 8] = ((balances[at + 8] ?? 0) - borrow) | 0
  }
}

/** Offsets in a row. Addresses have five words and numbers eight, the lowest first. */
export const FROM = 0
export const TO = 5
export const AMOUNT = 10
export const ID = 18
/** The number of the id in the table of ids; 0 for ERC-20, which has one id. */
export const KEY = 26
export const FROM_HASH = 27
export const TO_HASH = 28
/** The block, counted from the first of the page. Not set for owners. */
export const BLOCK = 29
const ROW_WORDS = 30

/** The transfers of one page in packed form. All logs are read before any row is applied. */
export class Rows {
  words = new Int32Array(32 * ROW_WORDS)
  count = 0

  /** Adds a row and returns its start. */
  add(): number {
    const at = this.count * ROW_WORDS
    if (at + ROW_WORDS > this.words.length) {
      const grown = new Int32Array(2 * this.words.length)
      grown.set(this.words)
      this.words = grown
    }
    this.count += 1
    return at
  }

  /** The end of the last row. */
  get end(): number {
    return this.count * ROW_WORDS
  }

  get step(): number {
    return ROW_WORDS
  }
}

/** Whether `count` words are all 0. */
export const isZero = (words: Int32Array, at: number, count: number): boolean => {
  for (let word = at; word < at + count; word += 1) if (words[word] !== 0) return false
  return true
}

/** The value of two hex digits, by their bytes; NONE for anything but digits in lower case. */
const PAIRS = new Uint16Array(0x1_0000)
const NONE = 0x100
PAIRS.fill(NONE)
for (let byte = 0; byte < 0x100; byte += 1) {
  const digits = byte.toString(16).padStart(2, '0')
  PAIRS[(digits.charCodeAt(0) << 8) | digits.charCodeAt(1)] = byte
}

/** The bytes of "0000". */
const FOUR_ZEROS = 0x3030_3030

/** Reads hex digits in the bytes of a page into words. */
export class HexReader {
  view: DataView = new DataView(new ArrayBuffer(0))
  words = new Int32Array(0)
  /** Whether everything read since this was set to true was valid. */
  isValid = true

  /** Reads eight digits per word; writes the lowest word first. */
  read(position: number, at: number, count: number): void {
    const { view, words } = this
    let bits = 0
    let digit = position
    for (let word = at + count - 1; word >= at; word -= 1, digit += 8) {
      if (view.getInt32(digit) === FOUR_ZEROS && view.getInt32(digit + 4) === FOUR_ZEROS) {
        words[word] = 0
        continue
      }
      const a = PAIRS[view.getUint16(digit)] ?? NONE
      const b = PAIRS[view.getUint16(digit + 2)] ?? NONE
      const c = PAIRS[view.getUint16(digit + 4)] ?? NONE
      const d = PAIRS[view.getUint16(digit + 6)] ?? NONE
      bits |= a | b | c | d
      words[word] = (a << 24) | (b << 16) | (c << 8) | d
    }
    if (bits >= NONE) this.isValid = false
  }

  /** Reads an address: the last 40 of 64 digits. The digits before must be 0. */
  readAddress(position: number, at: number): void {
    const { view } = this
    for (let digit = position; digit < position + 24; digit += 4) {
      if (view.getInt32(digit) !== FOUR_ZEROS) this.isValid = false
    }
    this.read(position + 24, at, 5)
  }
}

const WORDS = 8

/** Numbers token ids from 0 in the order of their first use. Open addressing. */
export class IdTable {
  #ids = new Int32Array(16 * WORDS)
  /** The number of the id plus 1; 0 for an empty slot. */
  #slots = new Int32Array(64)
  #count = 0
  readonly #seed = Math.trunc(Math.random() * 2 ** 32)
  readonly #limbs = new Limbs()

  get size(): number {
    return this.#count
  }

  /** The number of the id of eight words at this offset; adds a new id. */
  numberAt(words: Int32Array, at: number): number {
    const slot = this.#slotOf(words, at)
    const found = this.#slots[slot] ?? 0
    if (found !== 0) return found - 1
    if (this.#count * WORDS === this.#ids.length) this.#grow()
    for (let word = 0; word < WORDS; word += 1) {
      this.#ids[this.#count * WORDS + word] = words[at + word] ?? 0
    }
    this.#count += 1
    this.#slots[this.#slotOf(words, at)] = this.#count
    return this.#count - 1
  }

  numberOf(id: bigint): number {
    this.#limbs.set(id)
    return this.numberAt(this.#limbs.words, 0)
  }

  /** Undefined for an unknown id. */
  knownNumberOf(id: bigint): number | undefined {
    this.#limbs.set(id)
    const found = this.#slots[this.#slotOf(this.#limbs.words, 0)] ?? 0
    return found === 0 ? undefined : found - 1
  }

  idOf(number: number): bigint {
    this.#limbs.copy(this.#ids, number * WORDS)
    // Clear the words that belong to the next id.
    this.#limbs.words.fill(0, WORDS)
    return this.#limbs.get()
  }

  #slotOf(words: Int32Array, at: number): number {
    const mask = this.#slots.length - 1
    let hash = this.#seed
    for (let word = at; word < at + WORDS; word += 1) {
      hash = Math.imul(hash ^ (words[word] ?? 0), 0x9e3779b1)
      hash ^= hash >>> 15
    }
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0
      if (found === 0 || this.#isAt(found - 1, words, at)) return slot
    }
  }

  #isAt(number: number, words: Int32Array, at: number): boolean {
    for (let word = 0; word < WORDS; word += 1) {
      if (this.#ids[number * WORDS + word] !== words[at + word]) return false
    }
    return true
  }

  #grow(): void {
    const ids = new Int32Array(2 * this.#ids.length)
    ids.set(this.#ids)
    this.#ids = ids
    this.#slots = new Int32Array(2 * this.#slots.length)
    for (let number = 0; number < this.#count; number += 1) {
      this.#slots[this.#slotOf(ids, number * WORDS)] = number + 1
    }
  }
}
