import { COLOUR, EVENT } from './colours.ts'
import { type Look } from './looks.ts'
import { limitRecorded, limitsOf } from './rules.ts'
import { inWords } from './units.ts'
import { type Words } from './words.ts'

const limit = (alert: string, metric: string, severity: string): number => {
  const found = limitsOf(alert, metric).find((one) => one.severity === severity)
  if (!found) throw new Error(`${alert} has no severity ${severity}`)
  return found.value
}

const STALLED = limit('ChainBlockStalled', 'instance:chain_block_age:seconds', 'critical')
const BEHIND = limit('ChainBehind', 'instance:chain_behind:seconds', 'warning')

const EDGES: readonly Look[] = [
  { colour: COLOUR.good, fill: 20 },
  { colour: COLOUR.info, dash: [10, 6], fill: 40 },
  { colour: '#0072B2', dash: [2, 5], fill: 40 },
  { colour: COLOUR.unknown, dash: [16, 5, 2, 5], fill: 40 },
  { colour: COLOUR.warning, fill: 70 },
  { colour: COLOUR.critical, fill: 70 },
  { colour: EVENT, dash: [10, 6], fill: 90 },
  // Black on white, white on black.
  { colour: 'text', dash: [2, 5], fill: 80 },
  { colour: '#F0E442', dash: [16, 5, 2, 5], fill: 90 },
]

/** What a node is doing, in one word; the higher, the worse. */
export const STATES: Words = {
  1: ['following', 'good'],
  2: ['maintenance', 'info'],
  3: ['statesync', 'info'],
  4: ['unknown', 'unknown'],
  5: ['behind', 'warning'],
  6: ['STALLED', 'critical'],
  7: ['SERVICE DOWN', 'critical'],
  8: ['AGENT DOWN', 'critical'],
  9: ['NOT SCRAPED', 'critical'],
}

/** How many nodes are in a state over time: each with its own colour and edge, and the worse the fuller. */
export const AREAS: Readonly<Record<number, Look & { readonly text: string }>> = Object.fromEntries(
  Object.entries(STATES).map(([state, [text]]) => [
    state,
    { text, colour: COLOUR.unknown, ...EDGES[Number(state) - 1] },
  ]),
)

/**
 * The state of each node as a number of STATES. The first that holds counts: what the operator has announced comes
 * before what follows from it, and what explains the rest before the rest. One that was scraped in that time
 * and is no target any more is not scraped, rather than gone from the list.
 */
export const stateOf = (seenIn: string): string => `
  8 + 0 * (max by (job, instance) (up) == 0)
  or on (job, instance)
  2 * (max by (job, instance) (chain_agent_maintenance) == 1)
  or on (job, instance)
  7 + (min by (job, instance) (chain_service_active{service=~"bft|execution"}) == 0)
  or on (job, instance)
  3 * (max by (job, instance) (instance:chain_statesync:active) == 1)
  or on (job, instance)
  6 + 0 * (max by (job, instance) (instance:chain_block_age:seconds) > ${STALLED})
  or on (job, instance)
  5 + 0 * (max by (job, instance) (instance:chain_behind:seconds) > ${BEHIND})
  or on (job, instance)
  1 + 0 * max by (job, instance) (instance:chain_block_age:seconds)
  or on (job, instance)
  4 * (max by (job, instance) (up) == 1)
  or on (job, instance)
  9 * group by (job, instance) (last_over_time(up[${seenIn}]))`

/** Now, and of all that was scraped in the range of the dashboard. */
export const STATE = stateOf('$__range')

export const ABOUT_STATES = `following: the newest block is fresh, and nothing tells that the node is behind; without references nothing could. behind: more than ${BEHIND} s of blocks behind them. STALLED: the newest block is older than ${STALLED} s. unknown: the agent runs, and nobody tells the age of the newest block. SERVICE DOWN: consensus or execution does not run. AGENT DOWN: the scrape fails, and nothing is known of the node. NOT SCRAPED: it was a target within the time shown, and is none any more.`

/** Alerts that fire, for each node; those that speak of none are in the list alone. 0 only where recorded series show that rules are evaluated for the node. */
export const firing = (severity: string): string => `
  sum by (job, instance) (ALERTS{alertstate="firing", severity="${severity}", instance!=""})
  or on (job, instance)
  0 * group by (job, instance) ({__name__=~"instance:chain_.+"})`

/** What looks back says nothing of the time that nobody knows: where the agent is gone it would be as good as before. */
export const whileScraped = (expr: string): string => `${expr} and on (job, instance) (up == 1)`

export const FRESH = whileScraped('instance:chain_available:avg1h')

/** How old the newest block may be for that. */
export const FRESH_WITHIN = inWords(limitRecorded('instance:chain_available:bool'), 's')
