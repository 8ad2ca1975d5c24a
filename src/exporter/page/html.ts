import { sanitize } from '../../core/redaction/redact.ts'

/** HTML that is safe to send: `html` creates it, which escapes every value, and the renderer of Markdown. */
export class Html {
  readonly #text: string

  private constructor(text: string) {
    this.#text = text
  }

  toString(): string {
    return this.#text
  }

  /** What the renderer of Markdown returns. */
  static rendered(this: void, text: string): Html {
    return new Html(text)
  }

  /**
   * A template: markup is what the source code contains, every value is text. Values that are HTML are inserted as they
   * are, lists are joined, null and undefined are empty.
   */
  static of(this: void, markup: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
    return new Html(markup.map((part, index) => part + (index < values.length ? render(values[index]) : '')).join(''))
  }
}

type HtmlValue = Html | string | number | null | undefined | readonly HtmlValue[]

export const html = Html.of

const render = (value: HtmlValue): string => {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') return value instanceof Html ? value.toString() : value.map(render).join('')
  return escape(String(value))
}

/** Longer texts are cut: a log line can have a megabyte, and is evidence after a few lines. */
const MAX_LENGTH = 4096

/** Printable ASCII that needs no escape: nearly every value. */
const PLAIN = /^[\n !#-%(-;=?-~]*$/

/** A text without terminal control sequences, control characters and characters that change the direction, escaped. */
const escape = (text: string): string => {
  if (text.length <= MAX_LENGTH && PLAIN.test(text)) return text
  const beginning = text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}…` : text
  return sanitize(beginning).replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
