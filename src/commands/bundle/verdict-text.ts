import type { Finding } from '../../health/finding.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { summarize } from '../../health/summary.ts'
import { evaluateHealth } from '../../health/verdict.ts'
import { factLines, findingLines, verdictLine } from '../../cli/terminal/verdict.ts'
import type { Style } from '../../cli/terminal/style.ts'

/** For a file: no colour, and lines that fit a page. */
const PAGE: Style = {
  width: 100,
  isUnicode: false,
  paint: (_, text) => text,
  sign: (tone) => (tone === 'bad' ? 'x' : '-'),
  plain: (text) => text,
}

/** What `check` says, as a text. */
export const verdictText = (snapshot: NodeSnapshot, more: readonly Finding[]): string => {
  const verdict = evaluateHealth(snapshot, more)
  return [
    verdictLine(verdict, PAGE),
    '',
    ...findingLines(verdict.findings, PAGE),
    'What was found',
    ...factLines(summarize(snapshot), PAGE),
    '',
  ].join('\n')
}
