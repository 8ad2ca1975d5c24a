import { pastTime } from '../../core/bounds.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { widen } from '../../core/widen.ts'
import { type Sample, sample, sampleIfKnown } from '../../core/metric.ts'
import { fromSeconds, inSeconds, minute } from '../../core/units.ts'
import { definition, BLOCK_TAGS, REQUEST_FAILURES } from './definition.ts'
import { type Block, parseRpcBlock, parseRpcQuantity, parseRpcText } from '../../parsers/rpc.ts'
import { failureState, type Reply, request, type RequestFailure, requestTimeout, valueOf } from '../shared/request.ts'
import type { Settings, Uses } from '../dependencies.ts'

/** The requests of every poll, whose duration and failures are exported. */
const METHODS = ['eth_blockNumber', 'eth_getBlockByNumber'] as const

const UNKNOWN = {
  clientVersion: widen<string | null>(null),
  chainId: widen<bigint | null>(null),
  netVersion: widen<string | null>(null),
} as const
type Info = typeof UNKNOWN

type RpcReading =
  | { readonly up: false; readonly reason: RequestFailure; readonly detail: string }
  | {
      readonly up: true
      readonly blockNumber: bigint
      /** The block of each tag; null if the request failed. */
      readonly blocks: Readonly<Record<(typeof BLOCK_TAGS)[number], ReturnType<typeof timed>>>
      /** Null until the height has increased between two polls. */
      readonly lastAdvanceAt: number | null
      /** Of the latest block, in wei. */
      readonly baseFee: bigint | null
      readonly info: Info
    }

/** Version and chain change only with a restart of the node; missing values are requested sooner. Milliseconds. */
const infoInterval = (info: Info): number => (isComplete(info) ? minute : minute / 6)

/** The node's JSON-RPC. A refused connection or an invalid response is a reading: `chain_rpc_up` 0. */
export const rpc = ({
  url,
  batchingRpcAt,
  recorder,
  clock,
  timing,
}: Uses<'batchingRpcAt' | 'recorder' | 'clock', Settings<typeof definition, 'url'>>): Collector<RpcReading> => {
  const node = batchingRpcAt(url, requestTimeout(timing, 2))
  const measuredRequest = async <T>(
    method: (typeof METHODS)[number],
    params: readonly unknown[],
    { parse, signal }: { readonly parse: (text: string) => T; readonly signal: AbortSignal },
  ): Promise<Reply<T>> => {
    const started = clock.elapsed()
    const reply = await request(node.call(method, params, signal), parse)
    if (reply.ok || (reply.reason !== 'refused' && reply.reason !== 'timeout')) {
      const seconds = (clock.elapsed() - started) / 1000
      recorder.observe('chain_rpc_request_duration_seconds', seconds, { method })
    }
    if (!reply.ok) recorder.count('chain_rpc_errors_total', 1, { method, reason: reply.reason })
    return reply
  }

  const readInfo = async (signal: AbortSignal): Promise<Info> => {
    const [clientVersion, chainId, netVersion] = await Promise.all([
      request(node.call('web3_clientVersion', [], signal), parseRpcText),
      request(node.call('eth_chainId', [], signal), parseRpcQuantity),
      request(node.call('net_version', [], signal), parseRpcText),
    ])
    return { clientVersion: valueOf(clientVersion), chainId: valueOf(chainId), netVersion: valueOf(netVersion) }
  }

  let info: { readonly at: number; readonly value: Info } | undefined
  let highest: bigint | undefined
  let lastAdvanceAt: number | null = null

  let isInitialized = false

  const initialize = (): void => {
    isInitialized = true
    for (const method of METHODS)
      for (const reason of REQUEST_FAILURES) recorder.count('chain_rpc_errors_total', 0, { method, reason })
  }

  const read = async ({ signal }: { readonly signal: AbortSignal }): Promise<RpcReading> => {
    if (!isInitialized) initialize()
    const height = await measuredRequest('eth_blockNumber', [], { parse: parseRpcQuantity, signal })
    if (!height.ok) {
      info = undefined // the next response may be from another version
      return { up: false, reason: height.reason, detail: height.detail }
    }
    if (highest !== undefined && height.value > highest) lastAdvanceAt = clock.now()
    highest = height.value
    const isInfoDue = info === undefined || clock.elapsed() - info.at >= infoInterval(info.value)
    const block = (tag: (typeof BLOCK_TAGS)[number]): Promise<Reply<Block | null>> =>
      measuredRequest('eth_getBlockByNumber', [tag, false], { parse: parseRpcBlock, signal })
    const [latest, safe, finalized, newInfo] = await Promise.all([
      block('latest'),
      block('safe'),
      block('finalized'),
      isInfoDue ? readInfo(signal) : undefined,
    ])
    const now = clock.now()
    if (newInfo) info = { at: clock.elapsed(), value: merge(newInfo, info?.value) }
    return {
      up: true,
      blockNumber: height.value,
      blocks: { latest: timed(latest, now), safe: timed(safe, now), finalized: timed(finalized, now) },
      lastAdvanceAt,
      baseFee: valueOf(latest)?.baseFeePerGas ?? null,
      info: info?.value ?? UNKNOWN,
    }
  }

  return {
    ...metadataOf(definition, timing),
    run: poll(timing, read),
    samples,
    states: (reading) => ({ 'node RPC': reading.up ? 'answering' : failureState(reading) }),
  }
}

const samples: Collector<RpcReading>['samples'] = (reading) => {
  if (!reading.up) return [sample('chain_rpc_up', 0)]
  const { blockNumber, blocks, baseFee, info, lastAdvanceAt } = reading
  // eth_blockNumber defines the latest height; the block of that tag may already be the next one.
  const numbers = { ...blocks, latest: { number: blockNumber } }
  return [
    sample('chain_rpc_up', 1),
    ...BLOCK_TAGS.flatMap((tag) => [
      ...sampleIfKnown('chain_rpc_block_number', numbers[tag]?.number, { tag }),
      ...sampleIfKnown('chain_rpc_block_timestamp_seconds', inSeconds(blocks[tag]?.at), { tag }),
    ]),
    ...sampleIfKnown('chain_rpc_last_advance_timestamp_seconds', inSeconds(lastAdvanceAt)),
    ...sampleIfKnown('chain_rpc_base_fee_wei', baseFee),
    ...infoSamples(info),
  ]
}

/** `at`: the timestamp of the block, in milliseconds since the epoch; null if it is impossible or later than now. */
const timed = (reply: Reply<Block | null>, now: number) => {
  const block = valueOf(reply)
  return block && { number: block.number, at: pastTime(fromSeconds(block.timestamp), now) }
}

const isComplete = (info: Info): boolean => Object.values(info).every((field) => field !== null)

/** A failed request keeps the previous value. */
const merge = (now: Info, before = UNKNOWN): Info => ({
  clientVersion: now.clientVersion ?? before.clientVersion,
  chainId: now.chainId ?? before.chainId,
  netVersion: now.netVersion ?? before.netVersion,
})

/** Labels are stored permanently, so the length is limited. In Prometheus an empty label is an absent one. */
const infoSamples = ({ clientVersion, chainId, netVersion }: Info): readonly Sample[] =>
  sampleIfKnown('chain_rpc_info', clientVersion === null && chainId === null && netVersion === null ? null : 1, {
    client_version: clientVersion?.slice(0, 100) ?? '',
    chain_id: chainId?.toString() ?? '',
    net_version: netVersion?.slice(0, 100) ?? '',
  })
