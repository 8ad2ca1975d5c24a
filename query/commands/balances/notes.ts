import { excerpt } from '../../../src/core/errors.ts'
import { UNGUARDED, unrequestedNotes } from '../query/report.ts'
import type { RebuiltBalances, TokenContract } from './rebuild.ts'
import type { Verification } from './verify.ts'

export interface BalancesReport {
  readonly token: TokenContract
  readonly rebuilt: RebuiltBalances
  readonly verified: Verification | null
  /** Why no balance was compared with the contract, if there is a reason; null if one was. */
  readonly unverified: string | null
  readonly decimals: number | null
  readonly checksum: boolean
}

/** Limitations of the balances, one sentence each. */
export const notesOf = ({ token, rebuilt, verified, unverified }: BalancesReport): readonly string[] => {
  const { ledger, complete, through, target, error, unguarded } = rebuilt
  const { partial, nonConserving, hybrid, stats } = ledger
  return [
    ...(complete
      ? []
      : [`NOT COMPLETE: the balances end with block ${through} of ${target}.${error ? ` ${failureOf(error)}.` : ''}`]),
    ...(partial
      ? [
          'Partial: the history before --from-block is not included; each balance is the change since then and may be negative.',
        ]
      : []),
    ...(nonConserving
      ? [
          `Not conserving: ${inconsistencyOf(ledger)}. The contract changes balances ${causeOf(token)}; compare with --verify.`,
        ]
      : []),
    ...(hybrid
      ? ['Hybrid: the events that were read are of two standards; these are the balances of the requested one.']
      : []),
    ...(unguarded === true ? [UNGUARDED] : []),
    ...(complete && stats.logs === 0
      ? [`No transfer event of ${token.standard} was found. Check the contract address and the standard.`]
      : []),
    ...(stats.paired > 0
      ? [
          `Counted once: ${stats.paired} deposits and withdrawals, each of which is also logged as a Transfer. If the token logs all of them so, use no profile.`,
        ]
      : []),
    ...countNotesOf(stats),
    ...ambiguityOf(token, ledger),
    ...(complete && !verified && unverified !== null ? [unverifiedNoteOf(unverified)] : []),
    ...(verified ? verificationNotesOf(verified) : []),
    ...(verified?.different ?? [])
      .slice(0, MAX_DIFFERENCES)
      .map(
        ({ row, ours, theirs }) =>
          `Different: ${row.address}${row.id === null ? '' : `, id ${row.id}`}: ${ours} by events, ${theirs} by the contract.`,
      ),
  ]
}

/** Hashes prove that no block is missing, and not that no log is. */
const unverifiedNoteOf = (reason: string): string =>
  `Unverified: a log that the service left out would not be noticed. ${
    reason === ''
      ? 'To compare balances with the contract, use --rpc URL.'
      : `The balances were not compared with the contract: ${reason}.`
  }`

/** What the service reported is the reason of most ends. */
const failureOf = ({ summary, evidence }: NonNullable<BalancesReport['rebuilt']['error']>): string =>
  evidence === '' ? summary : `${summary} (${excerpt(evidence)})`

const MAX_DIFFERENCES = 20

type Ledger = BalancesReport['rebuilt']['ledger']

const ambiguityOf = ({ standard }: TokenContract, { ambiguous, mayIndexId, stats }: Ledger): readonly string[] => {
  if (!ambiguous) return []
  if (mayIndexId) return [MAY_INDEX_ID]
  return [standard === 'erc20' && stats.unindexed === 0 ? MAY_BE_IDS : AMBIGUOUS]
}

const MAY_INDEX_ID =
  'Ambiguous: each recipient is a small number and each amount has the size of an address. If the contract indexes the id in the place of an address, these balances are wrong, with every standard: check the order of the arguments of its event.'
const MAY_BE_IDS =
  'Ambiguous: each amount belonged to one owner at a time and moved as a whole, as an id does. If the contract is an ERC-721 that does not index the id, these balances are sums of ids: use --standard erc721.'
const AMBIGUOUS =
  'Ambiguous: the logs do not distinguish ERC-20 from ERC-721. Check which standard the contract has, and which arguments its event indexes.'

const inconsistencyOf = ({ stats, outOfRange }: Ledger): string => {
  if (outOfRange !== null) {
    const { address, id, balance, block } = outOfRange
    return `by its events ${address} had ${balance}${id === null ? '' : ` of id ${id}`} at the end of block ${block}, which no contract can store`
  }
  const parts = [
    ...(stats.inconsistent > 0 ? ['a sender did not own the token'] : []),
    ...(stats.unknownBuyer > 0 ? ['the buyer of a token is unknown'] : []),
    ...(stats.overflow > 0 ? ['the supply has more than 256 bits'] : []),
  ]
  return `by its events ${parts.join(', and ')}`
}

const causeOf = ({ standard, profile }: BalancesReport['token']): string =>
  standard === 'erc20' && profile === null
    ? 'without an event, or in events that were not read (a wrapped native token logs Deposit and Withdrawal: use --profile weth)'
    : 'without an event, or in events that were not read'

/** The logs that were not applied, and the unusual ones. Only JSON has the other counts. */
const countNotesOf = (stats: Ledger['stats']): readonly string[] => {
  const skipped = counted(stats, ['duplicate', 'removed', 'wrongStandard', 'malformed'])
  const applied = counted(stats, ['unindexed', 'dirtyTopic', 'overflow'])
  return [
    ...unrequestedNotes(stats.unrequested),
    ...(skipped === '' ? [] : [`Not applied: ${skipped}. The transfers of these logs are not included.`]),
    ...(applied === '' ? [] : [`Unusual: ${applied}.`]),
  ]
}

const counted = (stats: Ledger['stats'], names: readonly (keyof Ledger['stats'])[]): string =>
  names
    .filter((name) => stats[name] > 0)
    .map((name) => `${stats[name]} ${name}`)
    .join(', ')

const verificationNotesOf = ({
  asked,
  equal,
  different,
  unchecked,
  why,
  supply,
}: NonNullable<BalancesReport['verified']>): readonly string[] => {
  const parts = [
    asked === 0 ? 'no holder to check' : `${equal} of ${asked} match the contract`,
    ...(different.length > 0 ? [`${different.length} differ`] : []),
    ...(unchecked > 0 ? [`${unchecked} could not be checked: ${why}`] : []),
  ]
  const differs = supply !== null && supply.ours !== supply.theirs
  return [
    `Verified: ${parts.join('; ')}.`,
    ...(differs
      ? [
          `Different: supply: ${supply.ours} by events (minted less burned), ${supply.theirs} by the contract. The contract may have minted without events.`,
        ]
      : []),
    ...(different.length > 0
      ? [
          'The contract changes balances without events, or the service left out logs: run the command again, or with another service.',
        ]
      : []),
    ...(different.length > MAX_DIFFERENCES
      ? [`The first ${MAX_DIFFERENCES} of ${different.length} differences; --format json has all.`]
      : []),
  ]
}
