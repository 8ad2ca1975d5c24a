import type { Clock } from '../../core/clock.ts'
import { ParseError, SourceError, summaryOf } from '../../core/errors.ts'
import { second } from '../../core/units.ts'
import { parseRpcBytes, RpcErrorResponse } from '../../parsers/rpc.ts'
import { createHttpClient } from '../../sources/http.ts'
import { createRpcEndpoint, type RpcEndpoint } from '../../sources/endpoints.ts'
import { topicOf } from '../../tokens/signatures.ts'
import type { BalanceRow, LedgerResult } from '../../tokens/types.ts'
import type { Token } from './balances.ts'
import type { StandIns } from '../shared/stand-ins.ts'

interface Options extends Token, StandIns {
  readonly ledger: Pick<LedgerResult, 'rows' | 'intervals' | 'supply'>
  /** How many of them are looked at. */
  readonly sample: number
  readonly rpcUrl: string
  /** The snapshot is of the end of this block. */
  readonly block: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface Verified {
  readonly asked: number
  readonly equal: number
  readonly different: readonly Difference[]
  /** Those that the node could not tell, and in whose words. */
  readonly untold: number
  readonly why: string | null
  /** Of ERC-20: by mints and burns, and by the contract; null where one of them is not known. */
  readonly supply: { readonly ours: string; readonly theirs: string } | null
}

export interface Difference {
  readonly row: BalanceRow
  /** A number, or an owner: his address, or that there is none. */
  readonly ours: string
  readonly theirs: string
}

const TIMEOUT_MS = 10 * second

/** Asks the contract itself for some of the balances, at the block of the snapshot. */
export const verifyBalances = async (options: Options): Promise<Verified> => {
  const { ledger, sample, rpcUrl, clock, signal } = options
  const rpc = createRpcEndpoint(options.ask ?? createHttpClient(clock), rpcUrl, TIMEOUT_MS)
  const different: Difference[] = []
  let [equal, untold, silences] = [0, 0, 0]
  let why: string | null = null
  const chosen = spread([...ledger.rows, ...endsOf(ledger.intervals)], sample)
  for (const row of chosen) {
    signal.throwIfAborted()
    // Who has said nothing so often will not begin with the next.
    const theirs = silences < MOST_SILENCES ? await ask(rpc, callOf(row, options), options) : SILENT
    silences = 'why' in theirs && theirs.isSilent ? silences + 1 : 0
    if ('why' in theirs) {
      untold += 1
      why ??= theirs.why
    } else {
      const ours = expected(row, options)
      if (ours === theirs.value) equal += 1
      else different.push({ row, ours, theirs: theirs.value })
    }
  }
  const supply = silences < MOST_SILENCES ? await supplyOf(rpc, options) : null
  return { asked: chosen.length, equal, different, untold, why, supply }
}

const MOST_SILENCES = 3

type Told = { readonly value: string } | { readonly why: string; readonly isSilent?: boolean }

const SILENT: Told = { why: 'no answer', isSilent: true }

const supplyOf = async (rpc: RpcEndpoint, options: Options): Promise<Verified['supply']> => {
  const { supply } = options.ledger
  if (supply === null || options.standard !== 'erc20') return null
  options.signal.throwIfAborted()
  const theirs = await ask(rpc, selector('totalSupply()'), options)
  return 'value' in theirs ? { ours: supply.toString(), theirs: theirs.value } : null
}

/** The first and the last of each range. */
const endsOf = (intervals: LedgerResult['intervals']): readonly BalanceRow[] =>
  intervals.flatMap(({ from, to, owner }) =>
    (from === to ? [from] : [from, to]).map((id) => ({ address: owner, id, balance: 1n })),
  )

/** The largest, the smallest, and as many evenly between: the same each time. */
const spread = (rows: readonly BalanceRow[], sample: number): readonly BalanceRow[] => {
  const bySize = rows.toSorted((a, b) =>
    a.balance === b.balance ? 0 : a.balance > b.balance ? -1 : 1,
  )
  const count = Math.min(sample, bySize.length)
  const places = Array.from({ length: count }, (_, at) =>
    count === 1 ? 0 : Math.round((at * (bySize.length - 1)) / (count - 1)),
  )
  return places.flatMap((place) => bySize[place] ?? [])
}

const ask = async (
  rpc: RpcEndpoint,
  data: string,
  { contract, block, signal, ...token }: Options,
): Promise<Told> => {
  const call = { to: contract, data }
  try {
    const { status, text } = await rpc.call('eth_call', [call, `0x${block.toString(16)}`], signal)
    if (status !== 200) return { why: `HTTP status ${status}` }
    const bytes = parseRpcBytes(text)
    // A contract that does not know the question answers nothing, or reverts.
    if (bytes.length < WORD) return { why: 'the contract gave no answer' }
    const word = bytes.slice(0, WORD)
    return { value: isOwner(token) ? `0x${word.slice(24)}` : BigInt(`0x${word}`).toString() }
  } catch (error) {
    if (error instanceof RpcErrorResponse) return refusedOf(error, token)
    if (error instanceof SourceError) return { why: summaryOf(error), isSilent: true }
    if (error instanceof ParseError) return { why: summaryOf(error) }
    throw error
  }
}

const WORD = 64

/** What nodes say of a state that they do not have: no more, or not yet. */
const PRUNED =
  /prun|missing trie|not available|unavailable|histor|too old|header not found|block not found|out of range/i

const refusedOf = (error: RpcErrorResponse, token: Pick<Token, 'standard'>): Told => {
  const said = error.summary.replace(/^.*got the error /, '')
  // First: a contract's own words may be anything.
  const isReverted = /\brevert/i.test(said)
  if (isReverted && isOwner(token)) return { value: `no owner (${said})` }
  const lacksState = !isReverted && PRUNED.test(said)
  return { why: lacksState ? `the node has no state of that block (it said ${said})` : said }
}

const isOwner = ({ standard }: Pick<Token, 'standard'>): boolean => standard === 'erc721'

const expected = ({ address, balance }: BalanceRow, token: Pick<Token, 'standard'>): string =>
  isOwner(token) ? address : balance.toString()

const callOf = (
  { address, id }: BalanceRow,
  { standard, profile }: Pick<Token, 'standard' | 'profile'>,
): string => {
  const holder = address.slice(2).padStart(WORD, '0')
  const token = (id ?? 0n).toString(16).padStart(WORD, '0')
  if (profile === 'punks') return `${selector('punkIndexToAddress(uint256)')}${token}`
  return {
    erc20: () => `${selector('balanceOf(address)')}${holder}`,
    erc721: () => `${selector('ownerOf(uint256)')}${token}`,
    erc1155: () => `${selector('balanceOf(address,uint256)')}${holder}${token}`,
  }[standard]()
}

const selector = (signature: string): string => topicOf(signature).slice(0, 10)
