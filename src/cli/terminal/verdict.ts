import { sanitize } from '../../core/sanitize.ts'
import type { Finding, Severity } from '../../health/finding.ts'
import type { Fact } from '../../health/survey.ts'
import { firstLine, type Verdict, type Word } from '../../health/verdict.ts'
import { pairs, wrap } from './layout.ts'
import type { Style, Tone } from './style.ts'

const TONES: Readonly<Record<Word, Tone>> = {
  OK: 'good',
  MAINTENANCE: 'notice',
  WARNING: 'notice',
  CRITICAL: 'bad',
  UNKNOWN: 'unknown',
}
const SEVERITIES: Readonly<Record<Severity, Tone>> = {
  critical: 'bad',
  unknown: 'unknown',
  warning: 'notice',
  info: 'quiet',
}

/** The first line: the word in its colour, and the sentence. One line however long: it is read by programs, too. */
export const verdictLine = (verdict: Pick<Verdict, 'word' | 'sentence'>, style: Style): string => {
  const line = style.plain(sanitize(firstLine(verdict)))
  return style.paint(TONES[verdict.word], verdict.word) + line.slice(verdict.word.length)
}

/** The page of `check`: verdict, findings, facts. */
export const checkLines = (
  verdict: Verdict,
  facts: readonly Fact[],
  style: Style,
): readonly string[] => [
  verdictLine(verdict, style),
  '',
  ...findingLines(verdict.findings, style),
  'What was found',
  ...factLines(facts, style),
]

/** Each finding with what shows it and what to do. */
export const findingLines = (findings: readonly Finding[], style: Style): readonly string[] =>
  findings.flatMap((finding) => [...linesOf(finding, style), ''])

const linesOf = (
  { name, severity, says, evidence, advice }: Finding,
  style: Style,
): readonly string[] => {
  const tone = SEVERITIES[severity]
  const [first = '', ...rest] = wrap(style.plain(sanitize(`${capital(says)}.`)), style, '  ')
  return [
    style.paint(tone, style.sign(tone)) + first.slice(1),
    ...rest,
    ...evidence.flatMap((fact) => wrap(style.plain(sanitize(fact)), style, '    ')),
    ...advice.flatMap((step) => {
      const [head = '', ...more] = wrap(style.plain(sanitize(step)), style, '      ')
      return [`    ${style.paint('strong', '>')} ${head.trimStart()}`, ...more]
    }),
    ...(name.startsWith('Chain')
      ? [style.paint('quiet', `    more: chain-agent runbook ${name}`)]
      : []),
  ]
}

/** The facts, a line each; unknown is said. */
export const factLines = (facts: readonly Fact[], style: Style): readonly string[] =>
  pairs(
    facts.map(({ matter, says }) => [matter, style.plain(sanitize(says ?? 'unknown'))]),
    style,
  )

const capital = (text: string): string => {
  // A unit's name is written as it is.
  if (/^[a-z]+-/.test(text)) return text
  return text.charAt(0).toUpperCase() + text.slice(1)
}
