/** What two hex digits say, by their bytes; NONE where they are no digits in lower case. */
const PAIRS = new Uint16Array(0x1_0000)
const NONE = 0x100
PAIRS.fill(NONE)
for (let byte = 0; byte < 0x100; byte += 1) {
  const digits = byte.toString(16).padStart(2, '0')
  PAIRS[(digits.charCodeAt(0) << 8) | digits.charCodeAt(1)] = byte
}

/** "0000" */
const FOUR_ZEROS = 0x3030_3030

/** Reads hex digits out of a page's bytes into words. */
export class HexReader {
  view: DataView = new DataView(new ArrayBuffer(0))
  words = new Int32Array(0)
  /** Whether all that was read since this was set were digits. */
  sound = true

  /** Eight digits a word, the lowest word first. */
  read(position: number, at: number, count: number): void {
    const { view, words } = this
    let odd = 0
    let place = position
    for (let word = at + count - 1; word >= at; word -= 1, place += 8) {
      if (view.getInt32(place) === FOUR_ZEROS && view.getInt32(place + 4) === FOUR_ZEROS) {
        words[word] = 0
        continue
      }
      const a = PAIRS[view.getUint16(place)] ?? NONE
      const b = PAIRS[view.getUint16(place + 2)] ?? NONE
      const c = PAIRS[view.getUint16(place + 4)] ?? NONE
      const d = PAIRS[view.getUint16(place + 6)] ?? NONE
      odd |= a | b | c | d
      words[word] = (a << 24) | (b << 16) | (c << 8) | d
    }
    if (odd >= NONE) this.sound = false
  }

  /** An address: the last 40 of 64 digits; those before must be 0. */
  readAddress(position: number, at: number): void {
    const { view } = this
    for (let place = position; place < position + 24; place += 4) {
      if (view.getInt32(place) !== FOUR_ZEROS) this.sound = false
    }
    this.read(position + 24, at, 5)
  }
}
