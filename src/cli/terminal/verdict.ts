import { sanitize } from '../../core/redact.ts'
import type { Finding, Severity } from '../../health/finding.ts'
import type { Fact } from '../../health/summary.ts'
import { firstLine, type HealthVerdict, type HealthStatus } from '../../health/verdict.ts'
import type { Tone } from '../../core/health.ts'
import { pairs, wrap, type Style } from './style.ts'

const TONES: Readonly<Record<HealthStatus, Tone>> = {
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

/** The first line: the coloured word and the sentence. It is not wrapped: programs read it, too. */
export const verdictLine = (verdict: Pick<HealthVerdict, 'word' | 'sentence'>, style: Style): string => {
  const line = style.plain(sanitize(firstLine(verdict)))
  return style.paint(TONES[verdict.word], verdict.word) + line.slice(verdict.word.length)
}

/** The page of `check`: verdict, findings, facts. */
export const checkLines = (verdict: HealthVerdict, facts: readonly Fact[], style: Style): readonly string[] => [
  verdictLine(verdict, style),
  '',
  ...findingLines(verdict.findings, style),
  'Facts',
  ...factLines(facts, style),
]

/** Each finding with its evidence and advice. */
export const findingLines = (findings: readonly Finding[], style: Style): readonly string[] =>
  findings.flatMap((finding) => [...linesOf(finding, style), ''])

const linesOf = ({ name, severity, summary, evidence, advice }: Finding, style: Style): readonly string[] => {
  const tone = SEVERITIES[severity]
  const [first = '', ...rest] = wrap(style.plain(sanitize(`${capital(summary)}.`)), style, '  ')
  return [
    style.paint(tone, style.sign(tone)) + first.slice(1),
    ...rest,
    ...evidence.flatMap((fact) => wrap(style.plain(sanitize(fact)), style, '    ')),
    ...advice.flatMap((step) => {
      const [head = '', ...more] = wrap(style.plain(sanitize(step)), style, '      ')
      return [`    ${style.paint('strong', '>')} ${head.trimStart()}`, ...more]
    }),
    ...(name.startsWith('Chain') ? [style.paint('quiet', `    more: chain-agent runbook ${name}`)] : []),
  ]
}

/** The facts, one per line; a missing value is `unknown`. */
export const factLines = (facts: readonly Fact[], style: Style): readonly string[] =>
  pairs(
    facts.map(({ label, value }) => [label, style.plain(sanitize(value ?? 'unknown'))]),
    style,
  )

const capital = (text: string): string => {
  // Unit names are not capitalized.
  if (/^[a-z]+-/.test(text)) return text
  return text.charAt(0).toUpperCase() + text.slice(1)
}
