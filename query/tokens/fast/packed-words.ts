/** An address is five words of 32 bits, and a word of the EVM eight, the lowest first. */
export const ADDRESS_WORDS = 5
export const EVM_WORDS = 8
/** A balance has nine, in two's complement: the sum of 2^31 amounts of 256 bits fits. */
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

  /** The number in the words of another array; eight words have no sign, nine have one. */
  read(source: Int32Array, at: number, count: number): bigint {
    for (let word = 0; word < count; word += 1) this.words[word] = source[at + word] ?? 0
    this.words.fill(count === LIMBS ? (this.words[LIMBS - 1] ?? 0) >> 31 : 0, count)
    return this.get()
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
  amounts: Int32Array = new Int32Array(0)
  /** -1 subtracts: it adds the complement. */
  sign: 0 | -1 = 0

  add(balances: Int32Array, at: number, from: number): void {
    const { amounts, sign } = this
    let carry = sign & 1
    for (let limb = 0; limb < EVM_WORDS; limb += 1) {
      const a = balances[at + limb] ?? 0
      const b = (amounts[from + limb] ?? 0) ^ sign
      const sum = (a + b + carry) | 0
      carry = ((a & b) | ((a | b) & ~sum)) >>> 31
      balances[at + limb] = sum
    }
    balances[at + EVM_WORDS] = ((balances[at + EVM_WORDS] ?? 0) + sign + carry) | 0
  }
}

/** Offsets in a row: the sender, the recipient, and the amount, or the id of ERC-721. */
export const FROM = 0
export const TO = 7
export const VALUE = 14
const ROW_WORDS = VALUE + EVM_WORDS
/** Offsets in a sender or recipient, after its address: the number of the id, 0 for tokens without amounts of ids, and a hash of both. */
export const ID_NUMBER = 5
export const HASH = ID_NUMBER + 1

/** The transfers of one page in packed form. All logs are read before any row is applied. */
export class Rows {
  words = new Int32Array(32 * ROW_WORDS)
  /** The block of each row. */
  blocks = new Float64Array(32)
  count = 0
  readonly step = ROW_WORDS

  /** Adds a row of zeros and returns its start. */
  add(block: number): number {
    if (this.count === this.blocks.length) {
      const [words, blocks] = [new Int32Array(2 * this.words.length), new Float64Array(2 * this.count)]
      words.set(this.words)
      blocks.set(this.blocks)
      this.words = words
      this.blocks = blocks
    }
    const at = this.count * ROW_WORDS
    this.blocks[this.count] = block
    this.words[at + FROM + ID_NUMBER] = 0
    this.words[at + TO + ID_NUMBER] = 0
    this.count += 1
    return at
  }
}

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

/**
 * The bytes of hex digits, eight to a number: two are equal if their bytes are, because no number of ASCII characters is NaN
 * or zero.
 */
export const packDigits = (digits: string): Float64Array => {
  const bytes = Buffer.from(digits, 'latin1')
  return Float64Array.from({ length: bytes.length / 8 }, (_, eight) => bytes.readDoubleBE(8 * eight))
}

const [EIGHT_ZEROS] = packDigits('00000000')

/** Reads hex digits in the bytes of a page into words. */
export class HexReader {
  view: DataView = new DataView(new ArrayBuffer(0))
  words: Int32Array = new Int32Array(0)
  /** Whether everything read since this was set to true was valid. */
  isValid = true

  /** Reads eight digits per word; writes the lowest word first. */
  read(position: number, at: number, count: number): void {
    const { view, words } = this
    let bits = 0
    let digit = position
    for (let word = at + count - 1; word >= at; word -= 1, digit += 8) {
      if (view.getFloat64(digit) === EIGHT_ZEROS) {
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
    for (let digit = position; digit < position + 24; digit += 8) {
      if (view.getFloat64(digit) !== EIGHT_ZEROS) this.isValid = false
    }
    this.read(position + 24, at, 5)
  }
}
