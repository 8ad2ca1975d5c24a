import type { KeyNames } from '../../config/key-names.ts'
import { count, duration, figure, joinList } from '../../core/format.ts'
import { redactLog } from '../../core/redaction/redact-log.ts'
import { second } from '../../core/units.ts'
import { type Diagnosis, firstLine } from '../../health/diagnosis.ts'
import type { Finding } from '../../health/finding.ts'
import { findingLines, headLines } from '../../terminal/diagnosis.ts'
import type { Style } from '../../terminal/style.ts'
import type { MonlogFinding, MonlogReport } from './report.ts'

export interface RenderOptions {
  readonly style: Style
  readonly nameOf: NameOf
  /** Whether names were requested although names.file is not set. */
  readonly isNamesFileMissing: boolean
  readonly ownKey: string | null
  readonly wantsRaw: boolean
  /** The state of the node in the first lines; null for a log of another time. */
  readonly head?: Diagnosis | null
}

/** The health verdict, what the log shows, the evidence and what to do. */
export const renderReport = (report: MonlogReport, options: RenderOptions): readonly string[] => {
  const { style, wantsRaw, isNamesFileMissing, head = null } = options
  const { findings, problem, unparsed } = report
  const blocks = [
    [...(head ? headLines(head, style) : []), ...style.wrap(logLine(report))],
    problemLines(report, options),
    problem ? [] : style.pairs(rowsOf(report, options)),
    findingLines(
      findings.map((one) => asFinding(one, report.window.minutes)),
      style,
    ).slice(0, -1),
    isNamesFileMissing ? style.wrap(NO_NAMES, '  ') : [],
    unparsed === null ? [] : style.wrap(unparsed, '  '),
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
  const { window, round, block } = report
  const heights = [round === null ? '' : `round ${round}`, block === null ? '' : `block ${block}`].filter(Boolean)
  const parts = [window.to, head ? firstLine(head) : '', logLine(report), heights.join(', ')]
  return style.plain(parts.filter(Boolean).join(' '))
}

/** What the log shows, in the past tense: consensus may have ended since. */
const logLine = ({ log: { sentence } }: MonlogReport): string => `LOG: ${sentence}`

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
    ...(evidence === '' ? [] : style.wrap(evidence, '  ')),
    ...(advice === null ? [] : style.wrap(`What to do: ${advice}`, '  ')),
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

type Row = readonly [label: string, value: string]

const UNKNOWN = 'unknown'

/** The rows are always the same, so that `watch -d` highlights what has changed. */
const rowsOf = (report: MonlogReport, { nameOf, ownKey }: RenderOptions): readonly Row[] => {
  const { round, epoch, block, messages } = report
  return [
    ['package', packageOf(report)],
    ['own key', ownKey === null ? 'not configured (node.publicKey)' : nameOf(ownKey)],
    ['window', windowOf(report)],
    ['lines', linesOf(report)],
    ['statesync', statesyncOf(report)],
    ['blocksync', blocksyncOf(report)],
    ['round', heightOf(round)],
    ['epoch', heightOf(epoch)],
    ['block', heightOf(block)],
    ['committed', committedOf(report)],
    ['rounds', counted([messages.round_advanced, 'advanced'], [messages.round_timed_out, 'closed by a timeout'])],
    ['timed out', timedOutOf(report, nameOf)],
    ['votes', counted([messages.vote_created, 'created'])],
    [
      'warnings',
      counted(
        [messages.warning, messages.warning === 1 ? 'warning' : 'warnings'],
        [messages.error, messages.error === 1 ? 'error' : 'errors'],
      ),
    ],
    ['network', networkOf(report)],
    ['group', groupOf(report, nameOf)],
  ]
}

const heightOf = (height: bigint | null): string => (height === null ? 'not reported' : figure(height))

const packageOf = ({ package: line, source }: MonlogReport): string =>
  line ?? (source === 'file' ? 'unknown: the log is from a file' : 'unknown: dpkg does not list it')

const spanOf = ({ window: { minutes } }: MonlogReport): string => (minutes === 1 ? '60 seconds' : `${minutes} minutes`)

const windowOf = (report: MonlogReport): string => {
  const { from, to, isCovered } = report.window
  const range = `${from} to ${to}, ${spanOf(report)}`
  if (isCovered) return range
  const what = report.source === 'file' ? 'the file' : 'the journal'
  return `${range}; not all of it: ${report.problem ? 'nothing was read' : `${what} does not reach back that far`}`
}

const linesOf = ({ window: { lines, dropped, unreadable } }: MonlogReport): string =>
  [
    `${figure(lines)} about consensus`,
    `journald dropped ${dropped === 0 ? 'none' : figure(dropped)}`,
    ...(unreadable === 0 ? [] : [`${figure(unreadable)} could not be read`]),
  ].join(', ')

const statesyncOf = ({ statesync, messages: { statesync: lines } }: MonlogReport): string => {
  if (statesync === null) return UNKNOWN
  const detail = lines === null || lines === 0 ? '' : `: ${count(lines, 'message')}`
  if (statesync) return `under way${detail}`
  return detail === '' ? 'No statesync messages.' : `complete${detail}`
}

const blocksyncOf = ({ blocksync, messages: { blocksync: lines } }: MonlogReport): string => {
  if (blocksync === null) return UNKNOWN
  if (!blocksync && lines === 0) return 'No blocksync messages.'
  return `${blocksync ? 'under way' : 'complete'}${lines === null ? '' : `: ${count(lines, 'message')}`}`
}

const committedOf = (report: MonlogReport): string => {
  const { committing, messages, committedBefore } = report
  const blocks = messages.committed_block
  if (committing === null) return UNKNOWN
  if (blocks === null) return committing ? 'yes' : 'no'
  const newest =
    committedBefore === null || committedBefore <= 1
      ? ''
      : `, the newest ${duration(committedBefore * second)} before its end`
  return `${committing ? 'yes' : 'no'}: ${figure(blocks)} blocks in ${spanOf(report)}${newest}`
}

const counted = (...parts: readonly (readonly [amount: number | null, what: string])[]): string =>
  parts.every(([amount]) => amount === null)
    ? UNKNOWN
    : parts.map(([amount, what]) => `${amount === null ? UNKNOWN : figure(amount)} ${what}`).join(', ')

/** The number of leaders that are listed. */
const MAX_LEADERS = 6

const timedOutOf = ({ timedOutRounds, timedOutLeaders, messages }: MonlogReport, nameOf: NameOf): string => {
  const times = messages.local_timeout
  if (timedOutRounds === null || times === null) return UNKNOWN
  const named = timedOutLeaders
    .slice(0, MAX_LEADERS)
    .map(({ leader, rounds }) => `${nameOf(leader)} (${figure(rounds)})`)
  const others = timedOutLeaders.length - named.length
  const led = [...named, ...(others > 0 ? [`${others} more`] : [])]
  const repeated = times > timedOutRounds ? `, ${figure(times)} timeouts in all` : ''
  return `${count(timedOutRounds, 'round')} by this node${led.length === 0 ? '' : `, led by ${joinList(led)}`}${repeated}`
}

const networkOf = ({ networkErrors: { count: errors, peers, within } }: MonlogReport): string => {
  if (errors === null) return UNKNOWN
  if (errors === 0) return `no errors seen in ${within}`
  return `${count(errors, 'error')} in ${within}${peers === null ? '' : `, from ${count(peers, 'peer')}`}`
}

const groupOf = ({ group }: MonlogReport, nameOf: NameOf): string =>
  group === null
    ? 'none reported'
    : `of ${nameOf(group.validator)}, rounds ${figure(group.fromRound)} to ${figure(group.toRound - 1n)}`

/** Returns the name of a key, or its first and last digits: `02ab..cd12`. */
type NameOf = (key: string) => string

export const createNameOf =
  (names: KeyNames): NameOf =>
  (key) => {
    const bare = key.replace(/^0x/i, '').toLowerCase()
    return names.get(bare) ?? (bare.length > 12 ? `${bare.slice(0, 4)}..${bare.slice(-4)}` : bare)
  }

const KEY = /(?<![0-9a-zA-Z])(?:0x)?0[23][0-9a-fA-F]{64}(?![0-9a-zA-Z])/g

/** A line of the node's log for display: secrets redacted, keys replaced by names, on one line. */
export const shownLine = (text: string, nameOf: NameOf): string =>
  redactLog(text).replaceAll(KEY, nameOf).replaceAll('\n', ' ')
