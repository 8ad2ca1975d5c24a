import { COLOUR, EVENT } from './colours.ts'
import { type LineStyle } from './line-styles.ts'
import { limitRecorded, limitsOf } from './rules.ts'
import { inWords } from './units.ts'
import { type ValueLabels } from './value-labels.ts'

const limit = (alert: string, metric: string, severity: string): number => {
  const found = limitsOf(alert, metric).find((one) => one.severity === severity)
  if (!found) throw new Error(`${alert} has no severity ${severity}`)
  return found.value
}

const STALLED = limit('ChainBlockStalled', 'instance:chain_block_age:seconds', 'critical')
const BEHIND = limit('ChainBehind', 'instance:chain_behind:seconds', 'warning')

const EDGES: readonly LineStyle[] = [
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

/** States of a node; higher is worse. */
export const STATES: ValueLabels = {
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

/** Styles of the areas that show the number of nodes per state: each has its own colour and edge, and worse states are filled more. */
export const AREAS: Readonly<Record<number, LineStyle & { readonly text: string }>> = Object.fromEntries(
  Object.entries(STATES).map(([state, [text]]) => [
    state,
    { text, colour: COLOUR.unknown, ...EDGES[Number(state) - 1] },
  ]),
)

/** As the alert by which Alertmanager inhibits: it outlives the agent, which may be restarted during the maintenance. */
const IN_MAINTENANCE = '(max by (job, instance) (last_over_time(chain_agent_maintenance[30m])) == 1)'

/**
 * The state of each node as a number of STATES. A rule records what the agent reports, which ends with a failed scrape;
 * without it the agent is down, or the state is unknown. A node that was scraped in that time and is no longer a target
 * has the state NOT SCRAPED and stays in the list.
 */
export const stateOf = (seenIn: string): string => `
  max by (job, instance) (instance:chain_node:state)
  or on (job, instance)
  8 - 4 * max by (job, instance) (up)
  or on (job, instance)
  9 * group by (job, instance) (last_over_time(up[${seenIn}]))`

/** The current state of every node that was scraped in the range of the dashboard. */
export const STATE = stateOf('$__range')

export const ABOUT_STATES = `following: the newest block is fresh, and the node is not known to be behind (without references that is unknown). behind: more than ${BEHIND} s of blocks behind the references. STALLED: the newest block is older than ${STALLED} s. unknown: the agent runs, and the age of the newest block is unknown. SERVICE DOWN: consensus or execution does not run. AGENT DOWN: the scrape fails, so nothing is known of the node. NOT SCRAPED: Prometheus scraped it within the time shown, and no longer does. maintenance: a maintenance window is set, or was within the last 30 minutes.`

/** The alerts that maintenance does not inhibit. */
const NOT_INHIBITED = 'component=~"security|keys"'

/**
 * Number of firing alerts per node, without alerts that have no instance and those that maintenance inhibits. 0 only if
 * recorded series show that rules are evaluated for the node.
 */
export const firing = (severity: string): string => {
  const alerts = `ALERTS{alertstate="firing", severity="${severity}", instance!=""}`
  return `
  sum by (job, instance) (
    (${alerts} unless on (job, instance) ${IN_MAINTENANCE})
    or ${alerts.replace('}', `, ${NOT_INHIBITED}}`)}
  )
  or on (job, instance)
  0 * group by (job, instance) ({__name__=~"instance:chain_.+"})`
}

/** Above every state without a critical alert. */
const WITH_CRITICAL = 10

/** The state, from which a descending sort puts nodes with a critical alert first. */
export const RANK = `
  sum by (job, instance) (
    label_replace(${STATE}, "part", "state", "", "")
    or ${WITH_CRITICAL} * group by (job, instance) ((${firing('critical')}) > 0)
  )`

export const RANKS: ValueLabels = {
  ...STATES,
  ...Object.fromEntries(
    Object.entries(STATES).map(([state, [text]]) => [
      WITH_CRITICAL + Number(state),
      [text === text.toUpperCase() ? text : `${text}, critical alert`, 'critical'],
    ]),
  ),
}

/** Number of firing alerts per node that maintenance inhibits. */
export const INHIBITED = `
  sum by (job, instance) (
    ALERTS{alertstate="firing", severity=~"critical|warning", component!~"security|keys", instance!=""}
    and on (job, instance) ${IN_MAINTENANCE}
  )`

/** Limits a value over a past window to nodes that are scraped: without the agent it would stay as good as before. */
export const whileScraped = (expr: string): string => `${expr} and on (job, instance) (up == 1)`

export const FRESH = whileScraped('instance:chain_available:avg1h')

/** Maximum age of the newest block that counts as fresh. */
export const FRESH_WITHIN = inWords(limitRecorded('instance:chain_available:bool'), 's')
