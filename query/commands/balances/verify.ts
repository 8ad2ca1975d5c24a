import type { Clock } from '../../../src/core/clock.ts'
import { describeStatus, request } from '../../../src/collectors/shared/request.ts'
import { ParseError, SourceError, summaryOf } from '../../../src/core/errors.ts'
import { second } from '../../../src/core/units.ts'
import { parseRpcBlockHash, parseRpcBytes, RpcErrorResponse } from '../../../src/parsers/rpc.ts'
import { createHttpClient } from '../../../src/sources/http.ts'
import { createRpcEndpoint, type RpcEndpoint } from '../../../src/sources/endpoints.ts'
import type { BlockHash } from '../../client/types.ts'
import { topicOf } from '../../tokens/signatures.ts'
import type { LedgerResult } from '../../tokens/ledger.ts'
import type { BalanceRow } from '../../tokens/types.ts'
import type { SourceOverrides } from '../../../src/terminal/io.ts'
import type { TokenContract } from './rebuild.ts'

interface VerifyOptions extends TokenContract, SourceOverrides {
  readonly ledger: Pick<LedgerResult, 'rows' | 'intervals' | 'supply'>
  /** The number of balances to compare. */
  readonly sample: number
  readonly rpcUrl: string
  /** The last block of the balances. */
  readonly block: number
  readonly clock: Clock
  readonly signal: AbortSignal
}

export type Verification = Awaited<ReturnType<typeof verifyBalances>>

const TIMEOUT_MS = 10 * second

/**
 * Why the node cannot confirm the balances: nothing proves that it has the chain of the service. Undefined if it has the
 * same last block. The RPC of the configuration may be of another network than the service.
 */
export const otherChainOf = async (
  last: BlockHash | null,
  { rpcUrl, clock, signal, ask }: Pick<VerifyOptions, 'rpcUrl' | 'clock' | 'signal' | 'ask'>,
): Promise<string | undefined> => {
  if (last === null)
    return 'the service returns no block hashes, so that nothing proves that the node has the same chain'
  const rpc = createRpcEndpoint(ask ?? createHttpClient(clock), rpcUrl, TIMEOUT_MS)
  const number = `0x${last.block.toString(16)}`
  const reply = await request(rpc.call('eth_getBlockByNumber', [number, false], signal), parseRpcBlockHash)
  if (!reply.ok) return `the node did not return block ${last.block} (${reply.detail})`
  if (reply.value === null) return `the node does not have block ${last.block}`
  return reply.value === last.hash ? undefined : `the node has another block ${last.block}: another chain, or a reorg`
}

/** Compares a sample of the balances with the contract, by eth_call at the last block of the balances. */
export const verifyBalances = async (options: VerifyOptions) => {
  const { rpcUrl, clock, signal } = options
  const rpc = createRpcEndpoint(options.ask ?? createHttpClient(clock), rpcUrl, TIMEOUT_MS)
  /** A number, the address of an owner, or that there is no owner. */
  const different: { readonly row: BalanceRow; readonly ours: string; readonly theirs: string }[] = []
  let [equal, unchecked, failures] = [0, 0, 0]
  /** The first reason why the node did not return a balance. */
  let why: string | null = null
  const chosen = sampleOf(options)
  for (const row of chosen) {
    signal.throwIfAborted()
    // A node that did not respond this often is not requested again.
    const theirs = failures < MAX_FAILURES ? await callContract(rpc, callOf(row, options), options) : NO_ANSWER
    failures = 'why' in theirs && theirs.hasFailed ? failures + 1 : 0
    if ('why' in theirs) {
      unchecked += 1
      why ??= theirs.why
    } else {
      const ours = expected(row, options)
      if (ours === theirs.value) equal += 1
      else different.push({ row, ours, theirs: theirs.value })
    }
  }
  const supply = failures < MAX_FAILURES ? await supplyOf(rpc, options) : null
  return { asked: chosen.length, equal, different, unchecked, why, supply }
}

const MAX_FAILURES = 3

type ContractAnswer = { readonly value: string } | { readonly why: string; readonly hasFailed?: boolean }

const NO_ANSWER: ContractAnswer = { why: 'no answer', hasFailed: true }

/** The supply of an ERC-20, by events and by the contract; null if one of them is unknown. */
const supplyOf = async (rpc: RpcEndpoint, options: VerifyOptions) => {
  const { supply } = options.ledger
  if (supply === null || options.standard !== 'erc20') return null
  options.signal.throwIfAborted()
  const theirs = await callContract(rpc, selector('totalSupply()'), options)
  return 'value' in theirs ? { ours: supply.toString(), theirs: theirs.value } : null
}

/** The first and the last token of each range. */
const endsOf = (intervals: LedgerResult['intervals']): readonly BalanceRow[] =>
  intervals.flatMap(({ from, to, owner }) =>
    (from === to ? [from] : [from, to]).map((id) => ({ address: owner, id, balance: 1n })),
  )

/** The largest, the smallest, and evenly spaced ones between them; deterministic. */
const sampleOf = ({ standard, ledger: { rows, intervals }, sample }: VerifyOptions): readonly BalanceRow[] => {
  const ends = endsOf(intervals)
  // The rows of ERC-20 are sorted by balance, and those of ERC-721 have the same balance.
  const bySize = standard === 'erc1155' ? [...rows].sort(compareSizes) : undefined
  const rowAt = (index: number): BalanceRow | undefined =>
    index < rows.length ? (bySize?.[index] ?? rows.row(index)) : ends[index - rows.length]
  const all = rows.length + ends.length
  const count = Math.min(sample, all)
  const indexes = Array.from({ length: count }, (_, at) =>
    count === 1 ? 0 : Math.round((at * (all - 1)) / (count - 1)),
  )
  return indexes.flatMap((index) => rowAt(index) ?? [])
}

const compareSizes = (a: BalanceRow, b: BalanceRow): number =>
  a.balance === b.balance ? 0 : a.balance > b.balance ? -1 : 1

const callContract = async (
  rpc: RpcEndpoint,
  data: string,
  { contract, block, signal, ...token }: VerifyOptions,
): Promise<ContractAnswer> => {
  const call = { to: contract, data }
  try {
    const { status, text } = await rpc.call('eth_call', [call, `0x${block.toString(16)}`], signal)
    if (status !== 200) return { why: describeStatus({ status, text }) }
    const bytes = parseRpcBytes(text)
    // A contract without this function returns no data, or reverts.
    if (bytes.length < WORD_DIGITS) return { why: 'the contract returned no data' }
    const word = bytes.slice(0, WORD_DIGITS)
    return { value: isOwner(token) ? `0x${word.slice(24)}` : BigInt(`0x${word}`).toString() }
  } catch (error) {
    if (error instanceof RpcErrorResponse) return rpcErrorOf(error, token)
    if (error instanceof SourceError) return { why: summaryOf(error), hasFailed: true }
    if (error instanceof ParseError) return { why: summaryOf(error) }
    throw error
  }
}

const WORD_DIGITS = 64

/** Error messages of nodes for a state that was pruned or does not exist yet. */
const MISSING_STATE =
  /prun|missing trie|not available|unavailable|histor|too old|header not found|block not found|out of range/i

const rpcErrorOf = (error: RpcErrorResponse, token: Pick<TokenContract, 'standard'>): ContractAnswer => {
  const message = error.summary.replace(/^.*got the error /, '')
  // Checked first, because the message of a contract may contain any text.
  const isReverted = /\brevert/i.test(message)
  if (isReverted && isOwner(token)) return { value: `no owner (${message})` }
  const lacksState = !isReverted && MISSING_STATE.test(message)
  return {
    why: lacksState ? `the node has no state of that block (it returned ${message})` : message,
  }
}

const isOwner = ({ standard }: Pick<TokenContract, 'standard'>): boolean => standard === 'erc721'

const expected = ({ address, balance }: BalanceRow, token: Pick<TokenContract, 'standard'>): string =>
  isOwner(token) ? address : balance.toString()

const callOf = (
  { address, id }: BalanceRow,
  { standard, profile }: Pick<TokenContract, 'standard' | 'profile'>,
): string => {
  const holder = address.slice(2).padStart(WORD_DIGITS, '0')
  const token = (id ?? 0n).toString(16).padStart(WORD_DIGITS, '0')
  if (profile === 'punks') return `${selector('punkIndexToAddress(uint256)')}${token}`
  return {
    erc20: () => `${selector('balanceOf(address)')}${holder}`,
    erc721: () => `${selector('ownerOf(uint256)')}${token}`,
    erc1155: () => `${selector('balanceOf(address,uint256)')}${holder}${token}`,
  }[standard]()
}

const selector = (signature: string): string => topicOf(signature).slice(0, 10)
