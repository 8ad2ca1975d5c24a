import type { Chain } from '../chain/chain.ts'
import type { Happening } from '../chain/happening.ts'
import type { Validator } from '../chain/validators.ts'
import type { Condition } from '../scenario/condition.ts'

/** Who leads a round, as the scenario tells it of this node: the network goes on whatever befalls it. */
export const leaderOf = <Round extends Happening>(
  round: Round,
  { chain, own }: { readonly chain: Chain; readonly own: Validator },
  { leads }: Condition,
): Round => {
  if (round.kind === 'timeout') return leads === 'well' ? round : { ...round, leader: own }
  if (leads !== 'never' || round.leader !== own) return round
  const other = chain.validators.find((validator) => validator !== own)
  return other ? { ...round, leader: other } : round
}
