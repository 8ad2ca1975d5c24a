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

/** With few rounds one timeout is a large share: below this number the alert does not fire and the panels have no value. */
const judged = (expr: string): string =>
  `${expr} and on (job, instance) (sum by (job, instance) (chain_duty_slots) >= ${FEWEST})`

/** Share of own rounds that timed out, only where the alert would evaluate it. */
export const OWN_TIMEOUTS = judged(OWN)
export const OWN_TIMEOUTS_BY_NODE = judged(`max by (job, instance) (${OWN})`)

export const OWN_TIMEOUTS_LIMITS = limitsBy(ALERT, OWN)

/** Share of timeouts in the network above which the alert does not fire. */
export const NETWORK_IN_TROUBLE = inWords(only('chain_duty_timeout_ratio{scope="network"}'), 'percentunit')

export const ABOUT_FEW = `No data: fewer than ${FEWEST} rounds led.`

/**
 * Expected rounds to lead, from the share of the stake. The agent does not count rounds while the share is unknown, so
 * a comparison with all rounds led would be wrong. One of the 36 samples of six hours may be missing.
 */
export const EXPECTED_ROUNDS = `(
  sum by (job, instance) (chain_duty_expected_slots)
  and on (job, instance) (count_over_time(chain_native_stake_ratio[6h:10m]) >= 35)
)`
export const EXPECTED_ROUNDS_NOTE =
  'The expected number is absent if the share of the stake was unknown for more than ten minutes of the six hours.'
