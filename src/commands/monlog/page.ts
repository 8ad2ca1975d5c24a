import type { KeyNames } from '../../config/key-names.ts'
import { count, figure, joinList } from '../../core/format.ts'
import { redactLog } from '../../core/redaction/redact-log.ts'
import type { Diagnosis } from '../../health/diagnosis.ts'
import { findingLines, headLines } from '../../terminal/diagnosis.ts'
import type { Pairs, Style } from '../../terminal/style.ts'
import type { MonlogReport } from './report.ts'

interface RenderOptions {
  readonly style: Style
  readonly nameOf: NameOf
  /** The state of the node in the first lines; null for a log of another time. */
  readonly head: Diagnosis | null
  /** The lines for --raw; null without it. */
  readonly newest: MonlogReport['newest'] | null
  /** Whether names were requested although names.file is not set. */
  readonly hasNoNames: boolean
}

/** The health verdict, what the log shows, the evidence and what to do. */
export const renderReport = (report: MonlogReport, options: RenderOptions): readonly string[] => {
  const { style, nameOf, head, newest, hasNoNames } = options
  const { log, problem, hasOwnEntries, findings, unparsed } = report
  const blocks = [
    // In the past tense: consensus may have ended since.
    [...(head ? headLines(head, style) : []), ...style.wrap(`LOG: ${log.sentence}`)],
    // The sentence is its first line.
    style.wrap(problem?.replace(/^.*\n?/, '') ?? (hasOwnEntries ? '' : noEntriesText(report, nameOf)), '  '),
    problem === null ? style.pairs(rowsOf(report, nameOf)) : [],
    findingLines(findings, style).slice(0, -1),
    hasNoNames ? style.wrap(NO_NAMES, '  ') : [],
    style.wrap(unparsed ?? '', '  '),
    newest && problem === null ? rawLines(newest, style) : [],
  ]
  return blocks.filter(([first = '']) => first !== '').flatMap((block, at) => (at === 0 ? block : ['', ...block]))
}

const NO_NAMES =
  'Keys are shown because names.file is not set: copy networks/names.example.yaml, fill it in and set names.file to its path.'

/** Why there is nothing to show, and what to do. */
const noEntriesText = ({ unit, newest, source, window }: MonlogReport, nameOf: NameOf): string => {
  const last = newest.at(-1)
  if (source === 'file') {
    const unreadable = `${figure(window.unreadable)} lines were read, and none was understood.`
    const nothing = window.unreadable === 0 ? 'The file has no line of the service.' : unreadable
    return `${nothing}\nWhat to do: pass the journal of the consensus service, as printed by \`journalctl -u UNIT --all -o json\`, or the lines of the service itself.`
  }
  const newestText =
    last === undefined
      ? `The journal has no line of ${unit ?? 'the unit'}.`
      : `The newest line is from ${last.at}: ${shortened(shownLine(last.text, nameOf))}`
  return `${newestText}\nWhat to do: check whether it runs: \`systemctl status ${unit ?? 'UNIT'}\`; \`chain-agent check\` checks everything else.`
}

/** Characters of a line that are shown as evidence. */
const MAX_EVIDENCE = 200

const shortened = (line: string): string =>
  line.length > MAX_EVIDENCE ? `${line.slice(0, MAX_EVIDENCE - 1)}\u2026` : line

/** Lines are not wrapped here: the terminal wraps them, so copying gives the line that the service wrote. */
const rawLines = (lines: MonlogReport['newest'], style: Style): readonly string[] => [
  style.paint('strong', lines.length === 0 ? 'No lines.' : `The newest ${lines.length} lines:`),
  ...lines.map(({ at, text }) => `${style.paint('quiet', at.slice(11, 23))} ${style.plain(text)}`),
]

const UNKNOWN = 'unknown'

/** The rows are always the same, so that `watch -d` highlights what has changed. */
const rowsOf = (report: MonlogReport, nameOf: NameOf): Pairs => {
  const { source, window, messages, networkErrors } = report
  const { round, epoch, block, committing, statesync, blocksync } = report
  const heights = Object.entries({ round, epoch, block })
  const committed = `${figure(messages.committed_block ?? 0)} blocks in 60 seconds`
  const isCut = window.isCovered ? '' : `; not all of it: the ${source} does not reach back that far`
  const unreadable = window.unreadable === 0 ? '' : `, ${figure(window.unreadable)} could not be read`
  const { count: errors, peers } = networkErrors
  return [
    ['package', report.package ?? UNKNOWN],
    ['window', `${window.from} to ${window.to}, 60 seconds${isCut}`],
    [
      'lines',
      `${figure(window.lines)} about consensus, journald dropped ${window.dropped === 0 ? 'none' : figure(window.dropped)}${unreadable}`,
    ],
    ['statesync', syncText('statesync', statesync, messages.statesync)],
    ['blocksync', syncText('blocksync', blocksync, messages.blocksync)],
    ...heights.map(([name, height]) => [name, height === null ? 'not reported' : figure(height)] as const),
    [
      'committed',
      committing === null
        ? UNKNOWN
        : `${committing ? 'yes' : 'no'}${messages.committed_block === null ? '' : `: ${committed}`}`,
    ],
    ['rounds', counted([messages.round_advanced, 'advanced'], [messages.round_timed_out, 'closed by a timeout'])],
    ['timed out', timedOutText(report, nameOf)],
    ['votes', counted([messages.vote_created, 'created'])],
    [
      'warnings',
      counted(
        [messages.warning, messages.warning === 1 ? 'warning' : 'warnings'],
        [messages.error, messages.error === 1 ? 'error' : 'errors'],
      ),
    ],
    [
      'network',
      errors === null
        ? UNKNOWN
        : `${count(errors, 'error')}${errors === 0 || peers === null ? '' : `, from ${count(peers, 'peer')}`}`,
    ],
  ]
}

const syncText = (name: string, isActive: boolean | null, messages: number | null): string => {
  if (isActive === null) return UNKNOWN
  if (!isActive && (messages ?? 0) === 0) return `No ${name} messages.`
  return `${isActive ? 'under way' : 'complete'}${messages === null ? '' : `: ${count(messages, 'message')}`}`
}

const counted = (...parts: readonly (readonly [amount: number | null, what: string])[]): string =>
  parts.every(([amount]) => amount === null)
    ? UNKNOWN
    : parts.map(([amount, what]) => `${amount === null ? UNKNOWN : figure(amount)} ${what}`).join(', ')

/** The number of leaders that are listed. */
const MAX_LEADERS = 6

const timedOutText = ({ timedOutRounds, timedOutLeaders, messages }: MonlogReport, nameOf: NameOf): string => {
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
