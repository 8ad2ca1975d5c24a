import { figure } from '../../core/format.ts'
import type { MonlogFinding } from './findings.ts'
import { HEALTHY, type MonlogReport } from './report.ts'
import { type Diagnosis, firstLine } from '../../health/diagnosis.ts'
import type { Finding } from '../../health/finding.ts'
import { pairs, wrap, type Style } from '../../terminal/style.ts'
import { findingLines, headLines, verdictLine } from '../../terminal/diagnosis.ts'
import { type NameOf, rowsOf, shownLine } from './rows.ts'

export interface RenderOptions {
  readonly style: Style
  readonly nameOf: NameOf
  /** Whether names were requested although names.file is not set. */
  readonly isNamesFileMissing: boolean
  readonly ownKey: string | null
  readonly wantsRaw: boolean
  /** The state of the node in the first lines; null for a verdict of the log alone. */
  readonly head?: Diagnosis | null
}

/** The health verdict, the evidence and what to do. */
export const renderReport = (report: MonlogReport, options: RenderOptions): readonly string[] => {
  const { style, wantsRaw, isNamesFileMissing, head = null } = options
  const { findings, problem, unparsed } = report
  const blocks = [
    head === null ? [verdictLine(report.verdict, style)] : [...headLines(head, style), ...wrap(logLine(report), style)],
    problemLines(report, options),
    problem
      ? []
      : pairs(
          rowsOf(report, options).map(([label, value]) => [label, value]),
          style,
        ),
    findingLines(
      findings.map((one) => asFinding(one, report.window.minutes)),
      style,
    ).slice(0, -1),
    isNamesFileMissing ? wrap(NO_NAMES, style, '  ') : [],
    unparsed === null ? [] : wrap(unparsed, style, '  '),
    wantsRaw && !problem ? rawLines(report, options) : [],
  ]
  return blocks.filter((block) => block.length > 0).flatMap((block, index) => (index === 0 ? block : ['', ...block]))
}

const NO_NAMES =
  'Keys are shown because names.file is not set: copy networks/names.example.yaml, fill it in and set names.file to its path.'

/** The report in one line with its time, for output to a file or a pipe. */
export const shortLine = (
  report: MonlogReport,
  { style, head = null }: Pick<RenderOptions, 'style' | 'head'>,
): string => {
  const { verdict, window, round, block } = report
  const heights = [...(round === null ? [] : [`round ${round}`]), ...(block === null ? [] : [`block ${block}`])]
  const state = head === null ? firstLine(verdict) : `${firstLine(head)} ${logLine(report)}`
  return style.plain([window.to, state, heights.join(', ')].join(' ').trimEnd())
}

/** What the log shows, below the state of the node. It is about the past: consensus may have ended since. */
const logLine = ({ verdict: { sentence } }: MonlogReport): string =>
  `LOG: ${sentence.replace(HEALTHY, 'blocks were processed and committed')}`

/** Why there is nothing to show, and what to do. */
const problemLines = (report: MonlogReport, { style, nameOf }: RenderOptions): readonly string[] => {
  const { problem, unit, newest, source, hasOwnEntries } = report
  if (!problem && hasOwnEntries) return []
  const last = newest.at(-1)
  const evidence =
    problem?.evidence ??
    (last === undefined
      ? source === 'file'
        ? nothingIn(report)
        : `The journal has no line of ${unit ?? 'the unit'}.`
      : `The newest line is from ${last.at}: ${shortened(shownLine(last.text, nameOf))}`)
  const advice = problem
    ? problem.advice
    : source === 'file'
      ? 'pass the journal of the consensus service, as printed by `journalctl -u UNIT --all -o json`, or the lines of the service itself.'
      : `check whether it runs: \`systemctl status ${unit ?? 'UNIT'}\`; \`chain-agent check\` checks everything else.`
  return [
    ...(evidence === '' ? [] : wrap(evidence, style, '  ')),
    ...(advice === null ? [] : wrap(`What to do: ${advice}`, style, '  ')),
  ]
}

const nothingIn = ({ window: { unreadable } }: MonlogReport): string =>
  unreadable === 0
    ? 'The file has no line of the service.'
    : `${figure(unreadable)} lines were read, and none was understood.`

/** Characters of a line that are shown as evidence. */
const MAX_EVIDENCE = 200

const shortened = (line: string): string =>
  line.length > MAX_EVIDENCE ? `${line.slice(0, MAX_EVIDENCE - 1)}\u2026` : line

/** The finding in the format of the other commands; one that is no longer present has severity info. */
const asFinding = (finding: MonlogFinding, outOf: number): Finding => {
  const { name, severity, text, suggestion, alert, minutes, isPresent, lastAt } = finding
  const when = isPresent ? 'including the newest' : `none after ${lastAt}`
  return {
    name,
    severity: isPresent ? severity : 'info',
    summary: text.replace(/\.$/, ''),
    evidence: outOf === 1 ? [] : [`${severity}, in ${minutes} of ${outOf} minutes, ${when}`],
    advice: [suggestion, ...(alert === null ? [] : [`See \`chain-agent runbook ${alert}\`.`])],
  }
}

/** Lines are not wrapped here: the terminal wraps them, so copying gives the line that the service wrote. */
const rawLines = ({ newest }: MonlogReport, { style, nameOf }: RenderOptions): readonly string[] => [
  style.paint('strong', newest.length === 0 ? 'No lines.' : `The newest ${newest.length} lines:`),
  ...newest.map(({ at, text }) => `${style.paint('quiet', at.slice(11, 23))} ${style.plain(shownLine(text, nameOf))}`),
]
