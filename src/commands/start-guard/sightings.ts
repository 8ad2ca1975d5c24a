import { describeStatus } from '../../collectors/shared/request.ts'
import { createStakingNode } from '../../collectors/staking/precompile.ts'
import type { Context } from '../../core/clock.ts'
import { SourceError } from '../../core/errors.ts'
import { figure, shortDuration } from '../../core/format.ts'
import { fromSeconds, second } from '../../core/units.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import { parseLogBlocks, parseRpcBlock } from '../../parsers/rpc.ts'
import { proposedBlocksFilter } from '../../parsers/staking.ts'
import type { RpcEndpoint } from '../../sources/endpoints.ts'
import type { HttpResponse } from '../../sources/http.ts'
import type { LastRunAt } from './last-run.ts'

export interface Identity {
  /** 66 hex digits. */
  readonly key: string
  readonly lastRunAt: LastRunAt
  readonly bootId: string
}

export interface Sighting {
  readonly source: string
  /** What shows that another host signs with the key; null if nothing does. */
  readonly evidence: string | null
  /** Of a reference: the block of the evidence, and whether it has another one; undefined where it was not searched. */
  readonly block?: string
  readonly has?: (block: string) => boolean | undefined
}

/** Between the time of the last own block and the end of the run; a reference farther behind shows nothing. */
const MARGIN_MS = 10 * second
const FRESH_MS = 30 * second
/** Blocks have 300 ms; hosted endpoints limit eth_getLogs to 100. The newest may not have reached each reference. */
const [SHORTEST_MS, MOST, CHUNK, DEPTH] = [250, 2000, 100, 10]

const unknown = (happened: string): SourceError => new SourceError({ doing: 'read it', happened })
const textOf = (response: HttpResponse): string => {
  if (response.status === 200) return response.text
  throw unknown(describeStatus(response))
}
const ago = (at: number, now: number): string => `${shortDuration(Math.max(0, now - at))} ago`
const hex = (value: number): string => `0x${value.toString(16)}`

/** Throws an error if the reference cannot show whether another host signs. */
export const readReference = async (
  { name, rpc }: { readonly name: string; readonly rpc: RpcEndpoint },
  { key, lastRunAt }: Identity,
  { clock, signal }: Context,
): Promise<Sighting> => {
  const block = (tag: string) => rpc.call('eth_getBlockByNumber', [tag, false], signal)
  const answer = await block('finalized')
  const head = parseRpcBlock(textOf(answer))
  const headAt = fromSeconds(head?.timestamp ?? null)
  if (head === null || headAt === null) throw unknown('it has no finalized block')
  const now = Math.max(answer.date ?? clock.now(), headAt)
  if (now - headAt > FRESH_MS) throw unknown(`its newest block is from ${ago(headAt, now)}`)
  const state = createStakingNode(rpc, signal).at(head.number)
  const id = await state.storedId(key)
  if (id === 0n || (await state.validator(id)).secpKey !== key) throw unknown('it has no validator with the key')

  const since = lastRunAt(now) + MARGIN_MS
  const to = Number(head.number) - DEPTH
  const from = to + 1 - Math.min(MOST, to, Math.max(0, Math.ceil((now - since) / SHORTEST_MS)))
  const starts = Array.from({ length: Math.ceil((to + 1 - from) / CHUNK) }, (_, index) => from + index * CHUNK)
  const readChunk = async (start: number) => {
    const range = { fromBlock: hex(start), toBlock: hex(Math.min(to, start + CHUNK - 1)) }
    const logs = await rpc.call('eth_getLogs', [{ ...range, ...proposedBlocksFilter(id) }], signal)
    return parseLogBlocks(textOf(logs))
  }
  const own = (await Promise.all(starts.map(readChunk))).flat().toSorted((a, b) => Number(a.number - b.number))
  const blocks = new Set(own.map(({ number, hash }) => `${number} ${hash}`))
  const has = (other: string): boolean | undefined => {
    const height = Number.parseInt(other, 10)
    return height < from || height > to ? undefined : blocks.has(other)
  }
  const newest = own.at(-1)
  const at = newest && fromSeconds(parseRpcBlock(textOf(await block(hex(Number(newest.number)))))?.timestamp ?? null)
  if (!newest || !at || at <= since) return { source: name, evidence: null, has }
  const evidence = `${name} has block ${figure(newest.number)} of validator ${id}, ${ago(at, now)}`
  return { source: name, evidence, block: `${newest.number} ${newest.hash}`, has }
}

/** Another agent: whether its node signs with the key, by votes as a member of the active set or by blocks. */
export const readAgent = async (
  { source, ask }: { readonly source: string; readonly ask: Promise<HttpResponse> },
  { key, bootId }: Identity,
): Promise<Sighting> => {
  const isSigning = parsePrometheusText(textOf(await ask)).samples.some(
    ({ name, labels: { identity, boot = '' }, value }) =>
      name === 'chain_duty_identity_active' && value === 1 && identity === key && boot.replaceAll('-', '') !== bootId,
  )
  return { source, evidence: isSigning ? `${source} reports that its node signs with it` : null }
}

/** Of an agent, or a block that most references have, of those that searched for it. */
export const isDecisive = ({ evidence, block }: Sighting, all: readonly Sighting[]): boolean => {
  const answers = block === undefined ? [true] : all.map(({ has }) => has?.(block))
  const [having, lacking] = [true, false].map((one) => answers.filter((answer) => answer === one).length)
  return evidence !== null && (having ?? 0) > (lacking ?? 0)
}
