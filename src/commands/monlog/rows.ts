import type { KeyNames } from '../../config/key-names.ts'
import { redactLog } from '../../core/redaction/redact-log.ts'
import type { MonlogReport } from './report.ts'
import { count, duration, figure, joinList } from '../../core/format.ts'
import { second } from '../../core/units.ts'

type Row = readonly [label: string, value: string]

const UNKNOWN = 'unknown'

/** The rows are always the same, so that `watch -d` highlights what has changed. */
export const rowsOf = (
  report: MonlogReport,
  { nameOf, ownKey }: { readonly nameOf: NameOf; readonly ownKey: string | null },
): readonly Row[] => {
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
    [
      'rounds',
      counted([
        [messages.round_advanced, 'advanced'],
        [messages.round_timed_out, 'closed by a timeout'],
      ]),
    ],
    ['timed out', timedOutOf(report, nameOf)],
    ['votes', counted([[messages.vote_created, 'created']])],
    [
      'warnings',
      counted([
        [messages.warning, messages.warning === 1 ? 'warning' : 'warnings'],
        [messages.error, messages.error === 1 ? 'error' : 'errors'],
      ]),
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

const counted = (parts: readonly (readonly [amount: number | null, what: string])[]): string =>
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
export type NameOf = (key: string) => string

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
