import type { MonlogFinding } from './found.ts'
import type { MonlogReport } from './report.ts'
import type { Finding } from '../../health/finding.ts'
import { pairs, wrap } from '../../cli/terminal/layout.ts'
import type { Style } from '../../cli/terminal/style.ts'
import { findingLines, verdictLine } from '../../cli/terminal/verdict.ts'
import { rowsOf } from './rows.ts'
import { type NameOf, shownLine } from './words.ts'

export interface Show {
  readonly style: Style
  readonly nameOf: NameOf
  /** Whether names were asked for and no file of names is configured. */
  readonly lacksNames: boolean
  readonly ownKey: string | null
  readonly wantsRaw: boolean
}

/** The verdict, what shows it, what to do. */
export const renderReport = (report: MonlogReport, show: Show): readonly string[] => {
  const { style, wantsRaw, lacksNames } = show
  const { findings, problem, unparsed } = report
  const blocks = [
    [verdictLine(report.verdict, style)],
    troubleOf(report, show),
    problem
      ? []
      : pairs(
          rowsOf(report, show).map(([label, value]) => [label, style.plain(value)]),
          style,
        ),
    findingLines(
      findings.map((one) => asFinding(one, report.window.minutes)),
      style,
    ).slice(0, -1),
    lacksNames ? wrap(NO_NAMES, style, '  ') : [],
    unparsed === null ? [] : wrap(style.plain(unparsed), style, '  '),
    wantsRaw && !problem ? rawLines(report, show) : [],
  ]
  return blocks
    .filter((block) => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]))
}

const NO_NAMES =
  'Keys are shown because names.file is not set: copy networks/names.example.yaml, fill it in and set names.file to its path.'

/** The report in one line with its time, for a file or a pipe. */
export const shortLine = (
  { verdict, window, round, block }: MonlogReport,
  style: Style,
): string => {
  const heights = [
    ...(round === null ? [] : [`round ${round}`]),
    ...(block === null ? [] : [`block ${block}`]),
  ]
  return style.plain(
    [window.to, `${verdict.word}: ${verdict.sentence}`, heights.join(', ')].join(' ').trimEnd(),
  )
}

/** Why there is nothing to see, and what to do. */
const troubleOf = (report: MonlogReport, { style, nameOf }: Show): readonly string[] => {
  const { problem, unit, newest, source, hasSpoken } = report
  if (!problem && hasSpoken) return []
  const last = newest.at(-1)
  const evidence =
    problem?.evidence ??
    (last === undefined
      ? `There is no line of ${unit ?? 'it'} at all.`
      : `The newest line, of ${last.at}: ${shortened(shownLine(last.text, nameOf))}`)
  const advice = problem
    ? problem.advice
    : source === 'file'
      ? 'name the journal of the consensus service, as `journalctl -u UNIT --all -o json` writes it, or its own lines.'
      : `see whether it runs: \`systemctl status ${unit ?? 'it'}\`; \`chain-agent check\` looks at everything else.`
  return [
    ...(evidence === '' ? [] : wrap(style.plain(evidence), style, '  ')),
    ...(advice === null ? [] : wrap(style.plain(`What to do: ${advice}`), style, '  ')),
  ]
}

/** As evidence, the beginning of a line is enough. */
const EVIDENCE = 200

const shortened = (line: string): string =>
  line.length > EVIDENCE ? `${line.slice(0, EVIDENCE - 1)}\u2026` : line

/** As every command shows one; what is over is of no weight any more. */
const asFinding = (finding: MonlogFinding, outOf: number): Finding => {
  const { name, severity, text, suggestion, minutes, isPresent, lastAt } = finding
  const when = isPresent ? 'the newest among them' : `none after ${lastAt}`
  return {
    name,
    severity: isPresent ? severity : 'info',
    says: text.replace(/\.$/, ''),
    evidence: outOf === 1 ? [] : [`${severity}, in ${minutes} of ${outOf} minutes, ${when}`],
    advice: [suggestion],
    subject: 'work',
  }
}

/** Each line complete: a terminal wraps it, and copying it gives the line that the service wrote. */
const rawLines = ({ newest }: MonlogReport, { style, nameOf }: Show): readonly string[] => [
  style.paint('strong', newest.length === 0 ? 'No lines.' : `The newest ${newest.length} lines:`),
  ...newest.map(
    ({ at, text }) =>
      `${style.paint('quiet', at.slice(11, 23))} ${style.plain(shownLine(text, nameOf))}`,
  ),
]
