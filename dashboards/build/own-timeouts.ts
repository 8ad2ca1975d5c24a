import { limitsBy } from './limits.ts'
import { limitsOf } from './rules.ts'
import { inWords } from './units.ts'

const ALERT = 'ChainLeaderTimeouts'
const OWN = 'chain_duty_timeout_ratio{scope="own"}'

const only = (metric: string): number => {
  const [limit] = limitsOf(ALERT, metric)
  if (!limit) throw new Error(`${ALERT} asks nothing of ${metric}`)
  return limit.value
}

const FEWEST = only('chain_duty_slots')

/** Of a handful of rounds one is a large share: without so many the alert is silent, and so is what has its colours. */
const judged = (expr: string): string =>
  `${expr} and on (job, instance) (sum by (job, instance) (chain_duty_slots) >= ${FEWEST})`

/** Share of the own rounds that timed out, where its colours mean what the alert means. */
export const OWN_TIMEOUTS = judged(OWN)
export const OWN_TIMEOUTS_BY_NODE = judged(`max by (job, instance) (${OWN})`)

export const OWN_TIMEOUTS_LIMITS = limitsBy({ alert: ALERT, metric: OWN })

/** From which share of the whole network on the alert looks for no fault here. */
export const NETWORK_IN_TROUBLE = inWords(
  only('chain_duty_timeout_ratio{scope="network"}'),
  'percentunit',
)

export const ABOUT_FEW = `No data: fewer than ${FEWEST} rounds led, of which nothing can be told.`
