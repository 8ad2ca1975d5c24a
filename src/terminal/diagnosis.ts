import { type Finding, type HealthFinding, weightOf } from '../health/finding.ts'
import { type Diagnosis, evidenceLines, firstLine, recoveryLine } from '../health/diagnosis.ts'
import { SEVERITY_TONES, STATUS_TONES } from '../domain/health.ts'
import type { Style } from './style.ts'

/** The first line: the coloured word and the sentence. It is not wrapped: programs read it, too. */
export const verdictLine = (verdict: Pick<Diagnosis, 'word' | 'sentence'>, style: Style): string => {
  const line = firstLine(verdict)
  return style.paint(STATUS_TONES[verdict.word], verdict.word) + line.slice(verdict.word.length)
}

interface Head extends Pick<Diagnosis, 'word' | 'sentence' | 'incident'> {
  readonly recovery: Pick<Diagnosis['recovery'], 'summary' | 'left'> & { readonly path: string }
}

/** The state in its first line, the recovery in the next if the node needs any, and where the evidence is. */
export const headLines = (head: Head, style: Style): readonly string[] => {
  const { recovery } = head
  const lines = recovery.path === 'none' ? [] : style.wrap(recoveryLine(recovery))
  return [verdictLine(head, style), ...lines.map((line) => style.paint('strong', line)), ...evidenceLines(head)]
}

/** The same in JSON. */
export const diagnosisDocument = ({ word, sentence, recovery: { path, summary, left } }: Diagnosis) => ({
  verdict: { word, sentence },
  recovery: { path, summary, left },
})

/** The page of `check`: the diagnosis, the set-up of the host, facts: the rows of `status` and others. */
export const checkLines = (
  {
    diagnosis,
    setUp,
    facts,
  }: { diagnosis: Diagnosis; setUp: readonly Finding[]; facts: readonly { label: string; text: string }[] },
  style: Style,
): readonly string[] => [
  ...headLines(diagnosis, style),
  '',
  ...findingLines(diagnosis.causes, style),
  ...(setUp.length === 0 ? [] : [style.paint('strong', 'Set-up of this host'), '', ...findingLines(setUp, style)]),
  'Facts',
  ...style.pairs(facts.map(({ label, text }) => [label, text])),
]

type Shown = Finding & Partial<Pick<HealthFinding, 'timing' | 'consequences'>>

/** Each finding with its evidence and advice. */
export const findingLines = (findings: readonly Shown[], style: Style): readonly string[] =>
  findings.flatMap((finding) => [...linesOf(finding, style), ''])

const linesOf = (
  { name, severity, summary, timing = null, evidence, advice, consequences = [] }: Shown,
  style: Style,
): readonly string[] => {
  const tone = SEVERITY_TONES[weightOf({ severity, consequences })]
  return [
    ...style.marked(`${style.paint(tone, style.sign(tone))} `, `${capital(summary)}.`, '  '),
    ...(timing === null ? [] : [`    ${timing}`]),
    ...evidence.flatMap((fact) => style.wrap(fact, '    ')),
    ...advice.flatMap((step) => style.marked(`    ${style.paint('strong', '>')} `, step, '      ')),
    ...consequences.flatMap((one) => style.wrap(`Follows from it, ${one.severity}: ${one.summary}.`, '    ')),
    ...(name.startsWith('Chain') ? [style.paint('quiet', `    more: chain-agent runbook ${name}`)] : []),
  ]
}

const capital = (text: string): string => {
  // Services and units are not capitalized.
  if (/^(?:bft |rpc |[a-z]+-)/.test(text)) return text
  return text.charAt(0).toUpperCase() + text.slice(1)
}
