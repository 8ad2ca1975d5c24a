/**
 * Rounds to lead by the share of the stake. The agent expects none of the rounds of which it did not know the share:
 * beside all rounds led, such a number would be luck. One of the 36 readings of six hours may be lacking.
 */
export const TO_LEAD = `(
  sum by (job, instance) (chain_duty_expected_slots)
  and on (job, instance) (count_over_time(chain_native_stake_ratio[6h:10m]) >= 35)
)`
export const ABOUT_SHARE =
  'What is expected is there only where the share was known for nearly all of the six hours.'
