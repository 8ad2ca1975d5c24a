import { badHost, lostKeys, noRoom } from './recovery/first-mend.ts'
import { comingFork, missedFork, oldDatabase } from './recovery/forks.ts'
import { behind, calmRestart, executionStalled, stalled, well } from './recovery/running.ts'
import { readSituation, type RecoveryEvidence, type Situation } from './recovery/situation.ts'
import { statesync } from './recovery/statesync.ts'
import { down, endedBesideConsensus, rpcDown, wrongState } from './recovery/stopped.ts'
import { told } from './recovery/told.ts'
import type { Finder, Path, Way } from './recovery/way.ts'

export interface Advice extends Way {
  /** 0 where nothing is to be done, or waiting is all; else 1. */
  readonly exitCode: 0 | 1
}

/** Whether there is a node at all, and whether anything of it can be told. */
const absent: Finder = ({ known, hasServices, rpc, age }) => {
  const shown = known
    .series('chain_service_state')
    .filter(({ labels }) => labels['state'] === 'not-found')
  const isGone =
    shown.length > 0 &&
    ['bft', 'execution'].every((service) =>
      shown.some(({ labels, value }) => labels['service'] === service && value === 1),
    )
  if (isGone && known.value('chain_rpc_up') !== 1) {
    return nothing('there is no node on this host, or none that this user can see', [
      `systemd does not know ${rpc.unit.replace(/rpc$/, 'bft')}, and nobody answers at the address of its RPC.`,
    ])
  }
  if (hasServices || age !== undefined || known.value('chain_rpc_up') === 1) return undefined
  return nothing('nothing is known of the node', ['Neither systemd nor the node could be asked.'])
}

const nothing = (says: string, why: readonly string[]): Way => ({
  path: 'unknown',
  says: `unknown: ${says}`,
  why,
  steps: [
    "Run it on the node's own host, as a user who may ask systemd and read the journal.",
    'See what could not be read, and why: `chain-agent check`',
  ],
  notNow: [],
  runbook: null,
})

/**
 * The first that finds a reason is the way: what a start would founder on comes before the start, and what
 * stands before what is merely late.
 */
const FINDERS: readonly Finder[] = [
  absent,
  lostKeys,
  oldDatabase,
  missedFork,
  noRoom,
  badHost,
  endedBesideConsensus,
  wrongState,
  down,
  statesync,
  stalled,
  executionStalled,
  rpcDown,
  calmRestart,
  comingFork,
  behind,
  well,
]

/** Which documented way out the node needs now, if any. It advises, and knows nobody who could act. */
export const adviseRecovery = (evidence: RecoveryEvidence): Advice => {
  const situation = readSituation(evidence)
  const way = first(situation)
  const isNode = !(way.path === 'unknown' && situation.age === undefined)
  return {
    ...way,
    why: [...way.why, ...(isNode ? told(situation) : [])],
    exitCode: HARMLESS.includes(way.path) ? 0 : 1,
  }
}

const HARMLESS: readonly Path[] = ['none', 'wait']

const first = (situation: Situation): Way => {
  for (const find of FINDERS) {
    const way = find(situation)
    if (way) return way
  }
  return nothing('too little is known of the node to choose a way', [])
}
