import { type RecentRound, ROUND_STATES } from '../../domain/round.ts'
import { count, duration, figure, joinList, utc } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { html, type Html } from './html.ts'

type State = RecentRound['state']

const COLUMNS = 120
/** Units of the picture for each round. */
const STEP = 8
const HEIGHT = 32
/** A healthy network has a round every 0.4 s: after this time without one, the picture shows how long there is none. */
const SILENT_MS = 5 * second
/** Columns without a round: one for 2 s, so that a minute is a fourth of the picture. */
const SILENT_COLUMN_MS = 2 * second
const MOST_SILENT = 40

interface RoundsOfOverview {
  readonly rounds: readonly RecentRound[]
  readonly roundsUnknownBecause: string | null
  readonly at: number
}

/**
 * The newest rounds as a strip, and in words. A round is a bar: full height finalized, half proposed, open in the
 * middle timed out, a low mark skipped; an own one has a mark above it.
 */
export const renderRounds = ({ rounds, roundsUnknownBecause, at }: RoundsOfOverview): Html => {
  const newest = rounds.at(-1)
  if (!newest)
    return html`<h2>Last rounds</h2>
      <p>Unknown: ${roundsUnknownBecause ?? 'the ledger stream has reported no round yet'}.</p>`
  // If the stream is not read, the network may still have rounds.
  const silentMs = roundsUnknownBecause === null ? at - newest.at : 0
  const silent = silentMs < SILENT_MS ? 0 : Math.min(MOST_SILENT, Math.floor(silentMs / SILENT_COLUMN_MS))
  const shown = rounds.slice(silent - COLUMNS)
  const first = COLUMNS - silent - shown.length
  return html`<h2>Last rounds</h2>
    <svg
      class="rounds"
      viewBox="0 0 ${COLUMNS * STEP} ${HEIGHT}"
      preserveAspectRatio="none"
      aria-hidden="true"
      data-columns="${COLUMNS}"
      data-first="${first}"
      data-texts="${shown.map((round) => html`${textOf(round)};`)}"
    >
      ${ROUND_STATES.map((state) => html`<path class="${state.replace(' ', '-')}" d="${pathOf(shown, state, first)}" />`)}
      <path class="own" d="${ownPath(shown, first)}" />
      ${silent === 0 ? null : html`<path class="silent" d="M${(COLUMNS - silent) * STEP + 2} 30H${COLUMNS * STEP}" />`}
    </svg>
    <p class="legend" aria-hidden="true">
      Full: finalized. Half: proposed. Open in the middle: timed out. Low: skipped. Mark above: led by this node.
      Dashes: no round.
    </p>
    <p>
      ${summaryOf(shown)}${silent === 0 ? null : html` <strong>The ledger stream has had none for ${duration(silentMs, 1)}.</strong>`}${roundsUnknownBecause === null ? null : html` <strong>Later ones are unknown: ${roundsUnknownBecause}.</strong>`}
    </p>
    ${renderNotable(shown)}`
}

const SHAPES: Readonly<Record<State, string>> = {
  finalized: 'v24h6v-24z',
  proposed: 'm0 12v12h6v-12z',
  'timed out': 'h6v5h-6zm0 19h6v5h-6z',
  skipped: 'm0 21v3h6v-3z',
}

const pathOf = (rounds: readonly RecentRound[], state: State, first: number): string =>
  rounds
    .map((round, index) => (round.state === state ? `M${(first + index) * STEP + 1} 7${SHAPES[state]}` : ''))
    .join('')

const ownPath = (rounds: readonly RecentRound[], first: number): string =>
  rounds.map(({ isOwn }, index) => (isOwn === true ? `M${(first + index) * STEP} 0h8l-4 5z` : '')).join('')

/** `Round 70,123: finalized, led by 02ab..cdef, 2026-03-01T12:00:01Z` */
const textOf = ({ round, state, leader, at, isOwn }: RecentRound): string => {
  const by =
    isOwn === true ? ', led by this node' : leader === null ? '' : `, led by ${leader.slice(0, 4)}..${leader.slice(-4)}`
  return `Round ${figure(round)}: ${state}${by}, ${utc(at)}`
}

const summaryOf = (rounds: readonly RecentRound[]): string => {
  const [first, last] = [rounds[0], rounds.at(-1)]
  if (!first || !last) return 'None.'
  const counts = ROUND_STATES.flatMap((state) => {
    const number = rounds.filter((round) => round.state === state).length
    return number === 0 ? [] : [`${figure(number)} ${state}`]
  })
  const own = rounds.filter(({ isOwn }) => isOwn === true)
  const timedOut = own.filter(({ state }) => state === 'timed out').length
  const ofOwn =
    own.length === 0
      ? ''
      : ` ${count(own.length, 'own round')}, ${timedOut === 0 ? 'none' : figure(timedOut)} timed out.`
  return `Rounds ${figure(first.round)} to ${figure(last.round)}: ${joinList(counts)}.${ofOwn}`
}

/** Each round that has no block, and each own one. */
const renderNotable = (rounds: readonly RecentRound[]): Html | null => {
  const notable = rounds.filter(({ state, isOwn }) => isOwn === true || state === 'timed out' || state === 'skipped')
  if (notable.length === 0) return null
  return html`<details>
    <summary>${count(notable.length, 'round')} without a block, or led by this node</summary>
    <ul>
      ${notable.map((round) => html`<li>${textOf(round)}</li>`)}
    </ul>
  </details>`
}
