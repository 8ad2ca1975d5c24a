/** Where things stand in a row: addresses of five words, numbers of eight, the lowest first. */
export const FROM = 0
export const TO = 5
export const AMOUNT = 10
export const ID = 18
/** The id's place in the table of ids; 0 where there is one id alone. */
export const KEY = 26
export const FROM_HASH = 27
export const TO_HASH = 28
const ROW = 29

/** What the logs of one page move, packed: read in full before any of it is booked. */
export class Rows {
  words = new Int32Array(32 * ROW)
  count = 0

  /** The beginning of a new row. */
  add(): number {
    const at = this.count * ROW
    if (at + ROW > this.words.length) {
      const grown = new Int32Array(2 * this.words.length)
      grown.set(this.words)
      this.words = grown
    }
    this.count += 1
    return at
  }

  /** The beginning of each in turn, up to this one. */
  get end(): number {
    return this.count * ROW
  }

  get step(): number {
    return ROW
  }
}

/** Whether some words are all 0. */
export const isZero = (words: Int32Array, at: number, count: number): boolean => {
  for (let word = at; word < at + count; word += 1) if (words[word] !== 0) return false
  return true
}
