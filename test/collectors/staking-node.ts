import { createServer } from 'node:http'
import { text as textOf } from 'node:stream/consumers'
import { z } from 'zod'
import { createStakingPoll, type StakingUses } from '../../src/collectors/staking/poll.ts'
import { samplesOf, type StakingReading } from '../../src/collectors/staking/reading.ts'
import { createOwnBlock } from '../../src/collectors/shared/node-state.ts'
import { readStakingNetworks } from '../../src/config/staking.ts'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import type { Sample } from '../../src/core/metric.ts'
import { addressOfKey } from '../../src/parsers/staking.ts'
import { createRpcEndpoint } from '../../src/sources/endpoints.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import { listening } from '../support/http.ts'
import { manualClock } from '../support/manual-clock.ts'
import { pageWords, type ValidatorValues, validatorWords, word } from '../support/staking-words.ts'
import { memoryCheckpoint, recording } from './recording.ts'

export const KEY = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
export const WEI = 10n ** 18n
const AUTH = `0x${'1a'.repeat(20)}`

/** The state of the precompile in the tests; each test changes what it is about. */
export const chainState = () => ({
  chainId: 143n,
  /** The finalized block. */
  height: 60_000n,
  /** In seconds since the epoch; a block takes 0.4 s. */
  timeOf: (block: bigint): bigint => 1_700_000_000n + (block * 2n) / 5n,
  /** The native balance of the authority. */
  balance: 3n * 10n ** 17n,
  /** Of every block, as the node writes it. */
  beneficiary: `0x${'2B'.repeat(20)}`,
  epoch: 2n,
  isInDelay: false,
  id: 7n,
  own: {
    auth: AUTH,
    flags: 0n,
    stake: 11_000_000n * WEI,
    accumulator: 10n ** 36n,
    commission: WEI / 10n,
    unclaimed: 40n * WEI,
    consensusStake: 10_500_000n * WEI,
    consensusCommission: WEI / 20n,
    snapshotStake: 10_200_000n * WEI,
    snapshotCommission: WEI / 50n,
    secp: KEY,
    bls: 'ab'.repeat(48),
  } satisfies ValidatorValues,
  /** Stake, accumulator, unclaimed, delta, next delta, epochs of both. */
  delegator: [90_000n * WEI, 0n, 3n * WEI, 20_000n * WEI, 1000n * WEI, 3n, 4n],
  withdrawals: new Map<number, readonly bigint[]>(),
  sets: { execution: [3n, 7n, 9n], consensus: [9n, 7n], snapshot: [7n] },
  /** The stake of other validators. */
  stakes: new Map<bigint, bigint>(),
})
type ChainState = ReturnType<typeof chainState>

export type Fault = { readonly error: { code: number; message: string } } | { readonly result: unknown } | 'hang' | 503

/** Serves the precompile of that state as JSON-RPC over HTTP. */
export const startStakingNode = async (state: ChainState) => {
  const seen: { readonly call: string; readonly params: readonly unknown[]; readonly bytes: number }[] = []
  const control: { fault: (call: string, params: readonly unknown[]) => Fault | undefined } = { fault: () => undefined }
  const server = createServer((request, response) => {
    void (async () => {
      const { id, method, params } = callSchema.parse(JSON.parse(await textOf(request)))
      const call = method === 'eth_call' ? nameOf(params) : method
      const fault = control.fault(call, params)
      const reply = fault === 'hang' || fault === 503 ? undefined : (fault ?? { result: answer(state, method, params) })
      const text = reply ? JSON.stringify({ jsonrpc: '2.0', id, ...reply }) : ''
      seen.push({ call, params, bytes: text.length })
      if (fault === 'hang') return
      response.writeHead(fault === 503 ? 503 : 200, { 'content-type': 'application/json' }).end(text)
    })()
  })
  const { url, close } = await listening(server)
  return { url, seen, control, close }
}

const callSchema = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) })
const transaction = z.object({ to: z.string(), data: z.string(), gas: z.literal('0xf4240') })

const NAMES: Readonly<Record<string, string>> = {
  '757991a8': 'getEpoch',
  '2b6d639a': 'getValidator',
  '573c1ce0': 'getDelegator',
  '56fa2045': 'getWithdrawalRequest',
  fb29b729: 'consensus',
  de66a368: 'snapshot',
  '7cb074df': 'execution',
}
const nameOf = ([call]: readonly unknown[]): string => NAMES[transaction.parse(call).data.slice(2, 10)] ?? 'unknown'

const answer = (state: ChainState, method: string, params: readonly unknown[]): unknown => {
  if (method === 'eth_chainId') return `0x${state.chainId.toString(16)}`
  if (method === 'eth_getBlockByNumber') {
    const number = params[0] === 'finalized' ? state.height : BigInt(String(params[0]))
    const timestamp = `0x${state.timeOf(number).toString(16)}`
    return { number: `0x${number.toString(16)}`, timestamp, miner: state.beneficiary }
  }
  if (params.at(-1) !== `0x${state.height.toString(16)}`) throw new Error('not at the finalized block')
  if (method === 'eth_getStorageAt') {
    const isOwn = params[1] === `0x06${addressOfKey(KEY).slice(2)}${'00'.repeat(11)}`
    return `0x${word(isOwn ? state.id : 0n).slice(48)}${'0'.repeat(48)}`
  }
  if (method === 'eth_getBalance') return `0x${(params[0] === state.own.auth ? state.balance : 0n).toString(16)}`
  const { data } = transaction.parse(params[0])
  const [first = 0n, , third = 0n] = (data.slice(10).match(/.{64}/g) ?? []).map((text) => BigInt(`0x${text}`))
  return `0x${bytesOf(state, nameOf(params), { first, third })}`
}

const bytesOf = (state: ChainState, name: string, { first, third }: { first: bigint; third: bigint }): string => {
  if (name === 'getEpoch') return `${word(state.epoch)}${word(state.isInDelay)}`
  if (name === 'getValidator') {
    if (first === state.id) return validatorWords(state.own)
    const zeros = { ...state.own, auth: `0x${'0'.repeat(40)}`, secp: '0'.repeat(66), bls: '0'.repeat(96) }
    return validatorWords({ ...zeros, stake: state.stakes.get(first) ?? 0n })
  }
  if (name === 'getDelegator') return state.delegator.map(word).join('')
  if (name === 'getWithdrawalRequest') return (state.withdrawals.get(Number(third)) ?? [0n, 0n, 0n]).map(word).join('')
  const ids = name === 'consensus' || name === 'snapshot' || name === 'execution' ? state.sets[name] : []
  const page = ids.slice(Number(first), Number(first) + 100)
  const next = first + BigInt(page.length)
  return pageWords(next >= BigInt(ids.length), next, page)
}

/** The default settings, for that node over HTTP. */
export const stakingOptions = (url: string, clock: Clock): StakingUses => ({
  rpcUrl: url,
  rpcAt: () => createRpcEndpoint(createHttpClient(systemClock), url, 60_000),
  recorder: recording().recorder,
  clock,
  ownKey: { get: () => KEY, set: () => undefined },
  ownBlock: createOwnBlock(),
  checkpoint: memoryCheckpoint(),
  stakingNetworks: readStakingNetworks(),
  validatorId: null,
  withdrawals: [],
  expected: { beneficiary: null, authorityBalance: null },
  timing: { interval: 60_000, timeout: 30_000 },
})

/** When the polls begin: after the time of the blocks. */
export const START = Date.parse('2026-03-01T10:00:00Z')

/** A poll of that node over HTTP. */
export const stakingPoll = (url: string, settings: Partial<Omit<StakingUses, 'recorder' | 'clock'>> = {}) => {
  const clock = manualClock(START)
  const record = recording()
  const read = createStakingPoll({ ...stakingOptions(url, clock), recorder: record.recorder, ...settings })
  return { clock, ...record, poll: (signal = new AbortController().signal) => read({ signal }) }
}

/** Samples by name without its prefix, with the values of its labels. */
export const shown = (reading: StakingReading): Record<string, number> => {
  const keyOf = ({ name, labels }: Sample) => [name.replace('chain_staking_', ''), ...Object.values(labels)].join(' ')
  return Object.fromEntries(samplesOf(reading).map((one) => [keyOf(one), one.value]))
}
