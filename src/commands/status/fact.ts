import { figure } from '../../core/format.ts'
import type { Tone } from '../../cli/terminal/style.ts'
import { iso, moment } from './texts.ts'

/** One thing that is known, or unknown, of the node. */
export interface Fact {
  /** Where it stands in the section's JSON. */
  readonly path: readonly string[]
  readonly label: string
  /** In JSON's own types; null is unknown. */
  readonly value: unknown
  readonly text: string
  readonly tone: Tone | undefined
}

interface How<T> {
  /** The words of the field, unless it is called something else. */
  readonly label?: string
  readonly text?: (value: T) => string
  readonly tone?: (value: T) => Tone | undefined
  /** What is said where there is none, and it is known that there is none. */
  readonly otherwise?: string | undefined
  /** Why it is unknown, where that is no failure of whoever should tell it. */
  readonly why?: string | undefined
}

export const UNKNOWN = 'unknown'

/** A field of a section; its last name is its label in words. What is null or undefined is unknown. */
export const fact = <T>(
  path: string | readonly string[],
  value: T | null | undefined,
  how: How<T> = {},
): Fact => {
  const names = typeof path === 'string' ? [path] : path
  const label = how.label ?? words(names.at(-1) ?? '')
  // A report has words that are empty: nothing was said.
  if (value === null || value === undefined || value === '') {
    const { otherwise, why } = how
    const text = otherwise ?? (why === undefined ? UNKNOWN : `${UNKNOWN} (${why})`)
    const tone = otherwise === undefined ? 'unknown' : undefined
    return { path: names, label, value: null, text, tone }
  }
  const text = how.text ? how.text(value) : said(value)
  return { path: names, label, value, text, tone: how.tone?.(value) }
}

/** A moment in milliseconds since the epoch, as ISO 8601 and with its age. */
export const momentFact = (
  path: string | readonly string[],
  at: number | null | undefined,
  how: Omit<How<number>, 'text'> & { readonly now: number },
): Fact => {
  const told = fact(path, at, { ...how, text: moment(how.now) })
  return typeof told.value === 'number' ? { ...told, value: iso(told.value) } : told
}

/** `blockNumberFromExternal` as words. */
const words = (field: string): string =>
  field.replaceAll(/(?<=[a-z0-9])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

const said = (value: unknown): string => {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return figure(value)
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** For what should be the case. */
export const badUnless =
  (isWell: boolean): (() => Tone | undefined) =>
  () =>
    isWell ? undefined : 'bad'
