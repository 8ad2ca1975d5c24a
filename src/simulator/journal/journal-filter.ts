import type { Entry } from './journal.ts'

type Filter = (entry: Entry) => boolean

interface Question {
  readonly units: readonly string[]
  /** `FIELD=value`, or `+` between alternatives. */
  readonly matches: readonly string[]
  readonly grep: string | undefined
}

/** Which entries journalctl would show; a text where it would complain. */
export const createFilter = ({ units, matches, grep }: Question): Filter | string => {
  const wrong = matches.find((match) => match !== '+' && !/^[A-Z0-9_]+=/.test(match))
  if (wrong !== undefined) return `Failed to add match '${wrong}': Invalid argument`
  const alternatives = splitAlternatives(matches)
  const unitFilters = units.map(ofUnit)
  // Without a capital letter in it, a pattern ignores case.
  const pattern = grep === undefined ? undefined : new RegExp(grep, /[A-Z]/.test(grep) ? '' : 'i')
  return (entry) =>
    (unitFilters.length === 0 || unitFilters.some((filter) => filter(entry))) &&
    (alternatives.length === 0 || alternatives.some((fields) => matchesFields(fields, entry))) &&
    (pattern === undefined || pattern.test(entry.fields['MESSAGE'] ?? ''))
}

/** A unit's own entries, and those of PID 1 about it. */
const ofUnit = (name: string): Filter => {
  const unit = name.includes('.') ? name : `${name}.service`
  return ({ fields }) =>
    fields['_SYSTEMD_UNIT'] === unit ||
    (fields['_PID'] === '1' && fields['UNIT'] === unit) ||
    (fields['_UID'] === '0' && fields['OBJECT_SYSTEMD_UNIT'] === unit)
}

type Fields = ReadonlyMap<string, ReadonlySet<string>>

const splitAlternatives = (matches: readonly string[]): readonly Fields[] => {
  const alternatives: Map<string, Set<string>>[] = []
  let open: Map<string, Set<string>> | undefined
  for (const match of matches) {
    if (match === '+') {
      open = undefined
      continue
    }
    if (!open) {
      open = new Map()
      alternatives.push(open)
    }
    const [field, value] = [match.slice(0, match.indexOf('=')), match.slice(match.indexOf('=') + 1)]
    open.set(field, (open.get(field) ?? new Set()).add(value))
  }
  return alternatives
}

/** The same field twice is an alternative, another field is one more demand. */
const matchesFields = (wanted: Fields, { fields }: Entry): boolean =>
  [...wanted].every(([field, values]) => values.has(fields[field] ?? ''))
