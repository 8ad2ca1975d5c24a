const QUOTE = 0x22
const MAX_DEPTH = 32
const MAX_NAME_LENGTH = 64

const byte = (character: string): number => character.charCodeAt(0)

/**
 * Skips over JSON without parsing it. Accepts only JSON without white space, escapes and bytes outside ASCII:
 * a method returns true only for valid JSON, and false for anything else.
 */
export class PlainJson {
  bytes: Uint8Array = new Uint8Array(0)
  position = 0

  at(position: number): number {
    return this.bytes[position] ?? 0
  }

  /** Skips the character if it is next. */
  takes(character: number): boolean {
    if (this.at(this.position) !== character) return false
    this.position += 1
    return true
  }

  /** Skips a short plain string and returns its content; undefined if there is none. */
  text(): string | undefined {
    const start = this.position + 1
    if (!this.skipString() || this.position - start > MAX_NAME_LENGTH) return undefined
    return String.fromCharCode(...this.bytes.subarray(start, this.position - 1))
  }

  skipString(): boolean {
    if (!this.takes(QUOTE)) return false
    for (;;) {
      const character = this.at(this.position)
      if (character < 0x20 || character >= 0x7f || character === 0x5c) return false
      this.position += 1
      if (character === QUOTE) return true
    }
  }

  skip(depth = 0): boolean {
    switch (this.at(this.position)) {
      case QUOTE:
        return this.skipString()
      case 0x7b:
        return depth < MAX_DEPTH && this.members(() => this.skip(depth + 1))
      case 0x5b:
        return depth < MAX_DEPTH && this.elements(() => this.skip(depth + 1))
      case 0x74:
        return this.#literal('true')
      case 0x66:
        return this.#literal('false')
      case 0x6e:
        return this.#literal('null')
      default:
        return this.#number()
    }
  }

  /** Skips an object; `each` must skip the value of the member. */
  members(each: (name: string) => boolean): boolean {
    return this.#list('{}', () => {
      const name = this.text()
      return name !== undefined && this.takes(byte(':')) && each(name)
    })
  }

  /** Skips a list; `each` must skip the element. */
  elements(each: () => boolean): boolean {
    return this.#list('[]', each)
  }

  /** Whether only white space is left. */
  isAtEnd(): boolean {
    for (let at = this.position; at < this.bytes.length; at += 1) {
      if (![0x20, 0x0a, 0x0d, 0x09].includes(this.at(at))) return false
    }
    return true
  }

  #list(brackets: '{}' | '[]', each: () => boolean): boolean {
    const end = brackets.charCodeAt(1)
    if (!this.takes(brackets.charCodeAt(0))) return false
    if (this.takes(end)) return true
    for (;;) {
      if (!each()) return false
      if (this.takes(end)) return true
      if (!this.takes(byte(','))) return false
    }
  }

  #literal(text: string): boolean {
    for (let at = 0; at < text.length; at += 1) {
      if (!this.takes(text.charCodeAt(at))) return false
    }
    return true
  }

  #number(): boolean {
    this.takes(byte('-'))
    if (!this.takes(byte('0')) && !this.#digits()) return false
    if (this.takes(byte('.')) && !this.#digits()) return false
    if (this.takes(byte('e')) || this.takes(byte('E'))) {
      if (!this.takes(byte('+'))) this.takes(byte('-'))
      return this.#digits()
    }
    return true
  }

  #digits(): boolean {
    const start = this.position
    while (this.at(this.position) >= 0x30 && this.at(this.position) <= 0x39) this.position += 1
    return this.position > start
  }
}
