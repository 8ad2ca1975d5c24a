const QUOTE = 0x22
const DEEPEST = 32
const LONGEST_NAME = 64

const byte = (character: string): number => character.charCodeAt(0)

/**
 * Walks over JSON without parsing it. It knows the plain form alone, without space, escapes and bytes
 * beyond ASCII, and says false to all else; what it says true to, is JSON.
 */
export class PlainJson {
  bytes: Uint8Array = new Uint8Array(0)
  position = 0

  at(position: number): number {
    return this.bytes[position] ?? 0
  }

  /** Steps over one character, if it is there. */
  takes(character: number): boolean {
    if (this.at(this.position) !== character) return false
    this.position += 1
    return true
  }

  /** A short string's content; undefined where there is no plain one. */
  text(): string | undefined {
    const start = this.position + 1
    if (!this.skipString() || this.position - start > LONGEST_NAME) return undefined
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
        return depth < DEEPEST && this.members(() => this.skip(depth + 1))
      case 0x5b:
        return depth < DEEPEST && this.elements(() => this.skip(depth + 1))
      case 0x74:
        return this.#word('true')
      case 0x66:
        return this.#word('false')
      case 0x6e:
        return this.#word('null')
      default:
        return this.#number()
    }
  }

  /** An object, each of whose values is stepped over by `each`. */
  members(each: (name: string) => boolean): boolean {
    return this.#list('{}', () => {
      const name = this.text()
      return name !== undefined && this.takes(byte(':')) && each(name)
    })
  }

  elements(each: () => boolean): boolean {
    return this.#list('[]', each)
  }

  /** Whether nothing but space is left. */
  isAtEnd(): boolean {
    for (let place = this.position; place < this.bytes.length; place += 1) {
      if (![0x20, 0x0a, 0x0d, 0x09].includes(this.at(place))) return false
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

  #word(word: string): boolean {
    for (let at = 0; at < word.length; at += 1) {
      if (!this.takes(word.charCodeAt(at))) return false
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
