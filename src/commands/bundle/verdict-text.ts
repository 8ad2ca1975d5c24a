import type { Finding } from '../../health/finding.ts'
import type { Picture } from '../../health/picture.ts'
import { survey } from '../../health/survey.ts'
import { judge } from '../../health/verdict.ts'
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
export const verdictText = (picture: Picture, more: readonly Finding[]): string => {
  const verdict = judge(picture, more)
  return [
    verdictLine(verdict, PAGE),
    '',
    ...findingLines(verdict.findings, PAGE),
    'Facts',
    ...factLines(survey(picture), PAGE),
    '',
  ].join('\n')
}
