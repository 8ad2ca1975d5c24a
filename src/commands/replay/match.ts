import { ParseError } from '../../core/errors.ts'
import type { JournalEntry } from '../../parsers/journal.ts'

type Predicate = (entry: JournalEntry) => boolean

/**
 * What journalctl would show for these arguments, told of an entry that was recorded: `-u UNIT`, `--grep=`
 * and FIELD=value, of which the same field twice is an alternative, and another field one more demand.
 */
export const createMatch = (match: readonly string[]): Predicate => {
  const units = new Set<string>()
  const fields = new Map<string, Set<string>>()
  let grep: RegExp | undefined
  for (let at = 0; at < match.length; at += 1) {
    const argument = match[at] ?? ''
    const [, field, value = ''] = /^([A-Z0-9_]+)=(.*)$/s.exec(argument) ?? []
    if (argument === '-u') {
      at += 1
      units.add(match[at] ?? '')
    } else if (argument.startsWith('--grep=')) grep = patternOf(argument.slice('--grep='.length))
    else if (field !== undefined) fields.set(field, (fields.get(field) ?? new Set()).add(value))
    else throw new ParseError('a match of the journal', '-u, --grep= or FIELD=value', argument)
  }
  return (entry) =>
    (units.size === 0 || (entry.unit !== null && units.has(entry.unit))) &&
    [...fields].every(([field, values]) => values.has(entry.fields[field] ?? '')) &&
    (grep === undefined || grep.test(entry.message ?? ''))
}

/** Without a capital letter in it, journalctl's pattern ignores case. */
const patternOf = (text: string): RegExp => new RegExp(text, /[A-Z]/.test(text) ? '' : 'i')
