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
