import { type Field } from './log-layout.ts'
import { type PlainJson } from './plain-json.ts'

const ADDRESS = 40
const TOPIC = 64

/** `"0x` */
const OPENING = 0x2230_78
const QUOTE = 0x22

/** What is asked for: its hex digits by fours. */
export interface Asked {
  readonly contract: Int32Array
  readonly events: readonly Int32Array[]
}

/** Hex digits without 0x, four to a word as they stand in a page. */
export const foursOf = (digits: string): Int32Array => {
  const bytes = Buffer.from(digits, 'latin1')
  return Int32Array.from({ length: digits.length / 4 }, (_, four) => bytes.readInt32BE(4 * four))
}

/** Reads one log of a known layout; the positions of its parts are their first digits', 0 where there are none. */
export class LogReader {
  block = 0
  index = 0
  /** Which of the events that were asked for. */
  event = 0
  topic1 = 0
  topic2 = 0
  topic3 = 0
  data = 0
  /** How many digits of data; perhaps an odd count. */
  digits = 0
  view: DataView = new DataView(new ArrayBuffer(0))
  readonly #json: PlainJson
  readonly #asked: Asked

  constructor(json: PlainJson, asked: Asked) {
    this.#json = json
    this.#asked = asked
  }

  /** False where anything is not as the layout has it. Whether digits are digits is not looked at. */
  read(layout: readonly Field[]): boolean {
    this.topic1 = 0
    this.topic2 = 0
    this.topic3 = 0
    this.data = 0
    this.digits = 0
    for (const field of layout) {
      if (!this.#takes(field) || !this.#value(field)) return false
    }
    return this.#json.takes(0x7d)
  }

  #value({ kind }: Field): boolean {
    switch (kind) {
      case 'block':
        this.block = this.#number()
        return this.block >= 0
      case 'index':
        this.index = this.#number()
        return this.index >= 0
      case 'address':
        return this.#is(this.#hex(ADDRESS), this.#asked.contract)
      case 'topic0':
        this.event = this.#event(this.#hex(TOPIC))
        return this.event >= 0
      case 'topic1':
        this.topic1 = this.#topic()
        return this.topic1 >= 0
      case 'topic2':
        this.topic2 = this.#topic()
        return this.topic2 >= 0
      case 'topic3':
        this.topic3 = this.#topic()
        return this.topic3 >= 0
      case 'data':
        return this.#data()
      case 'removed':
        return this.#isKept()
      case 'other':
        return this.#json.skip()
    }
  }

  /** `false`, or null, which is as good. */
  #isKept(): boolean {
    const first = this.#json.at(this.#json.position)
    return (first === 0x66 || first === 0x6e) && this.#json.skip()
  }

  #takes({ length, starts, fours }: Field): boolean {
    const { view } = this
    const { position } = this.#json
    if (position + length > view.byteLength) return false
    for (let four = 0; four < fours.length; four += 1) {
      if (view.getInt32(position + (starts[four] ?? 0)) !== fours[four]) return false
    }
    this.#json.position = position + length
    return true
  }

  /** -1 where there is none that is plain. */
  #number(): number {
    const json = this.#json
    const start = json.position
    let value = 0
    let { position } = json
    for (; ; position += 1) {
      const digit = json.at(position) - 0x30
      if (digit < 0 || digit > 9) break
      value = 10 * value + digit
    }
    const count = position - start
    json.position = position
    return count === 0 || count > 15 || (count > 1 && json.at(start) === 0x30) ? -1 : value
  }

  /** Steps over a text of so many characters after its 0x; -1 where it has not that form. */
  #hex(count: number): number {
    const json = this.#json
    const start = json.position + 3
    if (start + count >= this.view.byteLength) return -1
    if (this.view.getInt32(start - 3) >>> 8 !== OPENING) return -1
    if (json.at(start + count) !== QUOTE) return -1
    json.position = start + count + 1
    return start
  }

  /** 0 for null. */
  #topic(): number {
    const json = this.#json
    if (json.at(json.position) !== 0x6e) return this.#hex(TOPIC)
    return json.skip() ? 0 : -1
  }

  #data(): boolean {
    const json = this.#json
    const start = json.position + 3
    // Most data is one word.
    if (this.#hex(TOPIC) === start) {
      this.digits = TOPIC
    } else {
      if (start >= this.view.byteLength) return false
      if (this.view.getInt32(start - 3) >>> 8 !== OPENING || !json.skipString()) return false
      this.digits = json.position - 1 - start
    }
    this.data = start
    return true
  }

  #event(start: number): number {
    const { events } = this.#asked
    for (let event = 0; event < events.length; event += 1) {
      const digits = events[event]
      if (digits !== undefined && this.#is(start, digits)) return event
    }
    return -1
  }

  #is(start: number, digits: Int32Array): boolean {
    if (start < 0) return false
    for (let four = 0; four < digits.length; four += 1) {
      if (this.view.getInt32(start + 4 * four) !== digits[four]) return false
    }
    return true
  }
}
