import { createHash, timingSafeEqual } from 'node:crypto'
import { inspect } from 'node:util'
import { REDACTED } from './redact.ts'

const SHOWN = '(secret)'

/** A text that nothing shows by accident: whatever would print it prints a word in its place. */
export class Secret {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** The text itself, for the one place that it is meant for. */
  reveal(): string {
    return this.#text
  }

  /** Compared in a time that tells nothing of where they differ. Hex digits of either case are the same. */
  isSameAs(other: Secret): boolean {
    return timingSafeEqual(digest(this.#text), digest(other.#text))
  }

  /** The text without this secret in it, whatever a tool has printed around it, as it is or escaped. */
  redactFrom(text: string): string {
    const forms = [this.#text, JSON.stringify(this.#text).slice(1, -1), this.#text.trim()]
    return forms
      .filter((form) => form !== '')
      .reduce((left, form) => left.replaceAll(form, REDACTED), text)
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
