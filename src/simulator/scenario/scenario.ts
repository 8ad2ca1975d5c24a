import { ConfigError, excerpt } from '../../core/errors.ts'
import { parseDuration } from '../../core/units.ts'
import { closestMatch } from '../../core/suggest.ts'
import type { Effect, Phrase } from './phrase.ts'
import { vocabulary } from './vocabulary.ts'

interface Step {
  /** Since the simulation began. */
  readonly afterMs: number
  /** The line as it stands in the file. */
  readonly text: string
  readonly effect: Effect
}

export interface Scenario {
  readonly name: string
  /** The first comment of the file. */
  readonly description: string
  /** The numbers of docs/failures.md that it rehearses: `# Failure: F1, F10`. */
  readonly failures: readonly string[]
  /** What shows it first, as a PromQL expression that is empty before: `# Signal: …`. */
  readonly signal: string | undefined
  readonly steps: readonly Step[]
}

/**
 * Reads the notation of scenarios: comments behind `#`, and lines of `time subject verb [argument]`
 * in order of time. Throws a ConfigError, and nothing else, for what is not that.
 */
export const parseScenario = (name: string, text: string): Scenario => {
  const lines = text.split('\n').map((line) => line.trim())
  const description = lines.find((line) => line.startsWith('#'))?.replace(/^#\s*/, '') ?? ''
  const failures = heading(lines, 'Failure')?.split(/[,\s]+/) ?? []
  const signal = heading(lines, 'Signal')
  const steps: Step[] = []
  for (const [index, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue
    const complain = complaintAt(`${name}, line ${index + 1}`)
    const step = parseStep(line, complain)
    const before = steps.at(-1)
    if (before && before.afterMs > step.afterMs) {
      throw complain({
        what: 'goes back in time',
        came: line,
        expected: `no earlier than "${before.text}"`,
      })
    }
    steps.push(step)
  }
  return { name, description, failures, signal, steps }
}

const heading = (lines: readonly string[], word: string): string | undefined =>
  lines.find((line) => line.startsWith(`# ${word}: `))?.slice(`# ${word}: `.length)

const LATEST_MS = 7 * 24 * 3_600_000

interface Complaint {
  readonly what: string
  readonly came: string
  readonly expected: string
  readonly meant?: string | undefined
}

type Complain = (complaint: Complaint) => ConfigError

const complaintAt =
  (place: string): Complain =>
  ({ what, came, expected, meant }) =>
    new ConfigError(
      `${place}: ${what}: "${excerpt(came)}"\n  expected: ${expected}` +
        (meant === undefined ? '' : `\n  did you mean "${meant}"?`),
    )

const parseStep = (line: string, complain: Complain): Step => {
  const [time = '', subject = '', verb = '', ...rest] = line.split(/\s+/)
  const afterMs = parseDuration(time)
  if (afterMs === undefined || !Number.isInteger(afterMs) || afterMs > LATEST_MS) {
    const expected = 'a time since the beginning, such as 20s or 1m30s, of a week at most'
    throw complain({ what: 'not a time', came: time, expected })
  }
  const phrase = findPhrase(subject, verb, complain)
  const argument = rest.join(' ')
  if (phrase.argument === undefined && argument !== '') {
    throw complain({
      what: 'too much',
      came: argument,
      expected: `nothing behind "${subject} ${verb}"`,
    })
  }
  const effect = phrase.read(argument)
  if (!effect) {
    const what = `wrong word behind "${subject} ${verb}"`
    throw complain({ what, came: argument, expected: phrase.argument ?? 'nothing' })
  }
  return { afterMs, text: line, effect }
}

const findPhrase = (subject: string, verb: string, complain: Complain): Phrase => {
  const subjects = new Set(vocabulary.map((phrase) => phrase.subject))
  if (!subjects.has(subject)) {
    throw complain({
      what: 'unknown subject',
      came: subject,
      expected: [...subjects].join(', '),
      meant: closestMatch(subject, subjects),
    })
  }
  const phrases = vocabulary.filter((phrase) => phrase.subject === subject)
  const found = phrases.find((phrase) => phrase.verb === verb)
  if (found) return found
  const verbs = phrases.map((phrase) => phrase.verb)
  throw complain({
    what: `unknown verb of ${subject}`,
    came: verb,
    expected: verbs.join(', '),
    meant: closestMatch(verb, verbs),
  })
}
