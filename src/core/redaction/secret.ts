import { createHash, timingSafeEqual } from 'node:crypto'
import { inspect } from 'node:util'
import { REDACTED } from './redact.ts'

const SHOWN = '(secret)'

/** A text that is never shown by accident: every conversion to a string returns a placeholder. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text, for the one place that needs it. */
  reveal(): string {
    return this.#text
  }

  /** Compares in constant time. Hex digits in upper and lower case are equal. */
  isSameAs(other: Secret): boolean {
    return timingSafeEqual(digest(this.#text), digest(other.#text))
  }

  /** Redacts this secret in a text, plain or escaped. */
  redactFrom(text: string): string {
    const forms = [this.#text, JSON.stringify(this.#text).slice(1, -1), this.#text.trim()]
    return forms.filter((form) => form !== '').reduce((left, form) => left.replaceAll(form, REDACTED), text)
  }

  toString(): string {
    return SHOWN
  }

  toJSON(): string {
    return SHOWN
  }

  [inspect.custom](): string {
    return SHOWN
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text.toLowerCase()).digest()
