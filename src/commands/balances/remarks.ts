import { UNGUARDED } from '../query/run-remarks.ts'
import type { Look } from './render.ts'

/** What a reader of the balances has to know of them, a sentence each. */
export const remarksOf = ({ token, rebuilt, verified }: Look): readonly string[] => {
  const { ledger, complete, through, target, broken, unguarded } = rebuilt
  const { partial, nonConserving, hybrid, stats } = ledger
  return [
    ...(complete
      ? []
      : [
          `NOT COMPLETE: it ends with block ${through} of ${target}.${broken ? ` ${broken.summary}.` : ''}`,
        ]),
    ...(partial
      ? [
          'Partial: the history before --from-block is not in it; what a holder had then is missing, and may be negative.',
        ]
      : []),
    ...(nonConserving
      ? [
          `Not conserving: by its events ${lacking(token, ledger)}. The contract changes balances without events; compare with --verify.`,
        ]
      : []),
    ...(hybrid
      ? [
          'Hybrid: the contract logs events of two standards; these are the balances of the one that was asked for.',
        ]
      : []),
    ...(unguarded === true ? [UNGUARDED] : []),
    ...(complete && stats.logs === 0
      ? ['Nothing came: no such event. Is this the contract, and its standard?']
      : []),
    ...oddOf(stats),
    ...(verified ? verdictOf(verified) : []),
    ...(verified?.different ?? [])
      .slice(0, MOST)
      .map(
        ({ row, ours, theirs }) =>
          `Different: ${row.address}${row.id === null ? '' : `, id ${row.id}`}: ${ours} by events, ${theirs} by the contract.`,
      ),
  ]
}

const MOST = 20

type Ledger = Look['rebuilt']['ledger']

const lacking = ({ standard }: Look['token'], { stats }: Ledger): string => {
  if (standard !== 'erc721') return 'somebody has less than nothing'
  const parts = [
    ...(stats.inconsistent > 0 ? ['somebody gave what he did not have'] : []),
    ...(stats.unknownBuyer > 0 ? ['it is not known who bought'] : []),
  ]
  return parts.join(', and ')
}

/** What was met and makes the balances doubtful; the rest is counted in JSON alone. */
const oddOf = (stats: Ledger['stats']): readonly string[] => {
  const left = counted(stats, ['malformed', 'unrequested'])
  const taken = counted(stats, ['unindexed', 'dirtyTopic', 'overflow'])
  const twofold = stats.unindexed > 0
  return [
    ...(left === '' ? [] : [`Left out: ${left}. What those logs moved is not in it.`]),
    ...(taken === ''
      ? []
      : [
          `Odd: ${taken}.${twofold ? ' From the logs alone ERC-20 and ERC-721 cannot be told apart: see which of them the contract is.' : ''}`,
        ]),
  ]
}

const counted = (stats: Ledger['stats'], names: readonly (keyof Ledger['stats'])[]): string =>
  names
    .filter((name) => stats[name] > 0)
    .map((name) => `${stats[name]} ${name}`)
    .join(', ')

const verdictOf = ({
  asked,
  equal,
  different,
  untold,
  why,
  supply,
}: NonNullable<Look['verified']>): readonly string[] => {
  const parts = [
    asked === 0 ? 'there is nothing to ask' : `${equal} of ${asked} are as the contract says`,
    ...(different.length > 0 ? [`${different.length} are different`] : []),
    ...(untold > 0 ? [`${untold} could not be asked: ${why}`] : []),
  ]
  const isOther = supply !== null && supply.ours !== supply.theirs
  return [
    `Verified: ${parts.join('; ')}.`,
    ...(isOther
      ? [
          `Different: the supply: ${supply.ours} minted and not burned by events, ${supply.theirs} by the contract. Balances may have been given without events.`,
        ]
      : []),
    ...(different.length > MOST
      ? [`The first ${MOST} of the ${different.length}; --format json has all.`]
      : []),
  ]
}
