import { digest } from '../chain/random.ts'
import type { SimulatedNode } from '../node.ts'
import type { StorageUse } from './storage-use.ts'

/** What the report says of blocks. */
export interface History {
  readonly history: bigint
  readonly retained: bigint
  readonly earliest: bigint
  readonly latest: bigint
  readonly proposed: Place
  readonly voted: Place
  readonly finalized: bigint
  readonly verified: bigint
  readonly neverSet: boolean
}

interface Place {
  readonly number: bigint
  readonly round: bigint
  readonly id: string
}

const NEVER_SET = 2n ** 64n - 1n

export const historyOf = (
  { heights, now, chain }: SimulatedNode,
  { history, retained }: StorageUse,
): History => {
  const latest = heights.execution(now())
  const place = (number: bigint): Place => {
    const block = chain.block(number)
    return { number, round: block?.round ?? 0n, id: block?.id ?? digest('no block', number) }
  }
  return {
    history,
    retained,
    earliest: latest - history + 1n,
    latest,
    proposed: place(latest),
    voted: place(latest - 1n),
    finalized: latest - 2n,
    verified: latest - 5n,
    neverSet: false,
  }
}

/** How the report looks on a fresh database, and for a moment while the node swaps its metadata. */
export const neverSet = ({ retained }: History): History => {
  const place = { number: NEVER_SET, round: NEVER_SET, id: '0'.repeat(64) }
  return {
    history: 1n,
    retained,
    earliest: NEVER_SET,
    latest: NEVER_SET,
    proposed: place,
    voted: place,
    finalized: NEVER_SET,
    verified: NEVER_SET,
    neverSet: true,
  }
}

type Lines = readonly string[]

const older = (told: History, places: Lines): Lines => [
  `MPT database has ${told.history} history, earliest is ${told.earliest} latest is ${told.latest}.`,
  `     It has been configured to retain no more than ${told.retained}.`,
  ...places,
  `     Latest finalized is ${told.finalized}, latest verified is ${told.verified}, auto expire version is ${told.neverSet ? 0n : told.earliest}`,
]

const proposedLine = ({ proposed: { number, id } }: History): string =>
  `     Latest proposed is (${number}, ${id}).`

const votedLine = ({ voted: { number, id } }: History): string =>
  `     Latest voted is (${number}, ${id}).`

const newer = (told: History, timelines: Lines): Lines => [
  `MPT database has been configured to retain no more than ${told.retained} versions.`,
  proposedLine(told),
  votedLine(told),
  `     Latest finalized is ${told.finalized}, latest verified is ${told.verified}`,
  'Active timelines:',
  ...timelines,
]

interface Timeline {
  readonly name: 'Primary' | 'Secondary'
  readonly kind: string
  readonly history: bigint
}

const timeline = (told: History, { name, kind, history }: Timeline): Lines => {
  const earliest = told.latest - history + 1n
  return [
    `     ${name}:`,
    `        State machine kind: ${kind}`,
    told.neverSet
      ? '        History: empty (no roots written yet)'
      : `        History: ${history} versions, earliest is ${earliest}, latest is ${told.latest}`,
    `        Auto expire version: ${told.neverSet ? 0n : earliest}`,
  ]
}

/** The second timeline began later. */
export const SECONDARY_HISTORY = 328_075n

/** The end of the report, in each layout. */
export const renderHistory = (told: History, { condition, prefix }: SimulatedNode): Lines => {
  const { layout, timelines } = condition().storage
  const { history } = told
  if (layout === 'A') {
    const { number, round } = told.voted
    return older(told, [`     Latest voted is (${number}, ${round}).`])
  }
  if (layout === 'B') return older(told, [votedLine(told)])
  if (layout === 'C') return older(told, [proposedLine(told), votedLine(told)])
  if (timelines !== 'dual') {
    const kind = timelines === 'legacy' ? 'ethereum' : prefix
    return newer(told, timeline(told, { name: 'Primary', kind, history }))
  }
  const second = history < SECONDARY_HISTORY ? history : SECONDARY_HISTORY
  return newer(told, [
    ...timeline(told, { name: 'Primary', kind: 'ethereum', history }),
    ...timeline(told, { name: 'Secondary', kind: prefix, history: second }),
  ])
}
