/** A balance as nine words of 32 bits, the lowest first, in two's complement: 2^31 amounts of 256 bits do not overflow it. */
export const LIMBS = 9

const WORD = 64n

/** Between bigint and words: set one, read the other. */
export class Limbs {
  readonly words = new Int32Array(LIMBS + 1)
  readonly #long = new BigUint64Array(this.words.buffer)

  set(value: bigint): void {
    let rest = BigInt.asUintN(320, value)
    for (let at = 0; at < 5; at += 1) {
      this.#long[at] = BigInt.asUintN(64, rest)
      rest >>= WORD
    }
  }

  /** Nine words of another array, with their sign. */
  copy(source: Int32Array, at: number): void {
    for (let limb = 0; limb < LIMBS; limb += 1) this.words[limb] = source[at + limb] ?? 0
    this.words[LIMBS] = (this.words[LIMBS - 1] ?? 0) >> 31
  }

  get(): bigint {
    let value = 0n
    for (let at = 4; at >= 0; at -= 1) {
      const part = this.#long[at] ?? 0n
      if (part !== 0n || value !== 0n) value = (value << WORD) | part
    }
    return BigInt.asIntN(320, value)
  }
}

/** An address as five words, the lowest first, at a place of an array. */
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

/** Adds amounts of eight words, out of one array, to balances in others. */
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
