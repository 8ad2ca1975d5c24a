import { addressOf, type AmountTransfer, ZERO_WORD } from './decode.ts'
import type { EventName } from './signatures.ts'

/** The transfers of a log. */
export interface DecodedLog {
  readonly block: number
  readonly event: EventName
  readonly transfers: readonly AmountTransfer[]
}

/** Whether the last deposit was also logged as a Transfer; null before the first deposit. */
export type Pairing = boolean | null

interface UnpairedLogs {
  readonly logs: readonly DecodedLog[]
  readonly pairing: Pairing
}

/**
 * Leaves out each Deposit and Withdrawal that repeats a Transfer: some wrapped tokens log both, in one block, with the same
 * holder and amount. A Withdrawal repeats a Transfer only if the last deposit did: a holder of another token can send
 * an amount to the zero address and withdraw the same amount.
 */
export const withoutRepeats = (all: readonly DecodedLog[], before: Pairing): UnpairedLogs => {
  const transfers = new Map<string, number>()
  for (const log of all) {
    if (log.event === 'Transfer') transfers.set(keyOf(log), (transfers.get(keyOf(log)) ?? 0) + 1)
  }
  let pairing = before
  const logs = all.filter((log) => {
    const [transfer] = log.transfers
    if (log.event === 'Transfer' || transfer === undefined) return true
    const key = keyOf(log)
    const left = transfers.get(key) ?? 0
    // Anyone can log a Transfer of 0.
    if (log.event === 'Deposit' && transfer.amount !== ZERO_WORD) pairing = left > 0
    if (left === 0 || pairing === false) return true
    transfers.set(key, left - 1)
    return false
  })
  return { logs, pairing }
}

const keyOf = ({ block, transfers }: DecodedLog): string =>
  [block, ...transfers.map(({ from, to, amount }) => `${addressOf(from)} ${addressOf(to)} ${amount}`)].join(' ')
