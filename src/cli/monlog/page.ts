import type { MonlogFinding } from '../../tasks/monlog/found.ts'
import type { MonlogReport } from '../../tasks/monlog/report.ts'
import type { Finding } from '../../verdict/finding.ts'
import { pairs, wrap } from '../page/layout.ts'
import type { Style } from '../page/style.ts'
import { findingLines, verdictLine } from '../page/verdict.ts'
import { rowsOf } from './rows.ts'
import { type NameOf, shownLine } from './words.ts'

interface Show {
  readonly style: Style
  readonly nameOf: NameOf
  readonly ownKey: string | null
  readonly wantsRaw: boolean
}

/** Where a line of the log is shown and nothing says how wide the reader's lines are. */
const LINE = 400

/** The verdict, what shows it, what to do. */
export const renderReport = (report: MonlogReport, show: Show): string => {
  const { style, wantsRaw } = show
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
    unparsed === null ? [] : wrap(style.plain(unparsed), style, '  '),
    wantsRaw && !problem ? rawLines(report, show) : [],
  ]
  return `${blocks
    .filter((block) => block.length > 0)
    .map((block) => block.join('\n'))
    .join('\n\n')}\n`
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
      : `The newest line, of ${last.at}: ${shownLine(last.text, nameOf, 200)}`)
  const advice = problem
    ? problem.advice
    : source === 'file'
      ? 'name the journal of the consensus service, as `journalctl -u UNIT --all -o json` writes it, or its own lines.'
      : `see whether it runs: \`systemctl status ${unit ?? 'it'}\`; \`chain-agent check\` looks at everything else.`
  return [
    ...wrap(style.plain(evidence), style, '  '),
    ...(advice === null ? [] : wrap(style.plain(`What to do: ${advice}`), style, '  ')),
  ]
}

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

const rawLines = ({ newest }: MonlogReport, { style, nameOf }: Show): readonly string[] => [
  style.paint('strong', newest.length === 0 ? 'No lines.' : `The newest ${newest.length} lines:`),
  ...newest.map(({ at, text }) => {
    const time = `${at.slice(11, 23)} `
    // Where it is cut stands one sign, or in ASCII three dots.
    const end = time.length + style.plain('\u2026').length - 1
    const room = Math.min(LINE, style.width === undefined ? LINE : style.width - end)
    return style.paint('quiet', time) + style.plain(shownLine(text, nameOf, room))
  }),
]
