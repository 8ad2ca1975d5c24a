import { stableReason } from '../../core/error-body.ts'
import { SourceError, summaryOf } from '../../core/errors.ts'
import {
  parseRpcAmount,
  parseRpcBeneficiary,
  parseRpcBlock,
  parseRpcBytes,
  parseRpcQuantity,
  RpcErrorResponse,
} from '../../parsers/rpc.ts'
import {
  parseIdSlot,
  parseSetPage,
  parseStakingDelegator,
  parseStakingEpoch,
  parseStakingValidator,
  parseWithdrawalRequest,
  type SetView,
  STAKING_ADDRESS,
  stakingCall,
  validatorIdSlot,
} from '../../parsers/staking.ts'
import type { RpcEndpoint } from '../../sources/endpoints.ts'
import { describeStatus } from '../shared/request.ts'
import type { FinalizedBlock } from './epoch.ts'
import { fromSeconds } from '../../core/units.ts'

const READ = 'read the staking precompile'

/** The node does not answer, or rejects the request: it is busy, or does not have the block. */
export class NodeUnavailableError extends SourceError {
  override name = 'NodeUnavailableError'
  /** What happened, without texts that differ at each attempt. */
  readonly state: string
  constructor(state: string, happened = state) {
    super({ doing: READ, happened })
    this.state = state
  }
}

/** Enough gas for each function, and below the limit of the node's pool for cheap calls. */
const GAS = '0xf4240'
/** 100 ids each. */
const MAX_PAGES = 50

const hex = (value: bigint): string => `0x${value.toString(16)}`

export type StakingNode = ReturnType<typeof createStakingNode>
/** The staking state of the node at one block. All requests are sent one after the other. */
export type StakingState = ReturnType<StakingNode['at']>

/**
 * Requests to the staking precompile. They throw a NodeUnavailableError if the node does not answer or rejects the
 * request, another SourceError on a chain without it, and a ParseError for an invalid return value.
 */
export const createStakingNode = (rpc: RpcEndpoint, signal: AbortSignal) => {
  const ask = async <T>(method: string, params: readonly unknown[], parse: (text: string) => T): Promise<T> => {
    try {
      const response = await rpc.call(method, params, signal)
      if (response.status === 200) return parse(response.text)
      throw new NodeUnavailableError(describeStatus(response))
    } catch (error) {
      if (error instanceof NodeUnavailableError) throw error
      if (error instanceof RpcErrorResponse) {
        const state = `the request was rejected: ${stableReason(error.reported)}`
        throw new NodeUnavailableError(state, summaryOf(error))
      }
      if (error instanceof SourceError) throw new NodeUnavailableError(error.happened)
      throw error
    }
  }
  return {
    chainId: () => ask('eth_chainId', [], parseRpcQuantity),
    /** The newest finalized block, or the one of that number; null if the node does not have it. */
    block: async (number: bigint | 'finalized'): Promise<FinalizedBlock | null> => {
      const block = await ask(
        'eth_getBlockByNumber',
        [number === 'finalized' ? number : hex(number), false],
        parseRpcBlock,
      )
      return block && { number: block.number, at: fromSeconds(block.timestamp) }
    },
    /** The beneficiary of the block of that number, in lower case; null if the node does not have it. */
    beneficiary: (number: bigint) => ask('eth_getBlockByNumber', [hex(number), false], parseRpcBeneficiary),
    /** The state at that block, so that all values of a poll are of one state. */
    at: (number: bigint) => {
      const call = async <T>(data: string, parse: (bytes: string) => T): Promise<T> => {
        const bytes = await ask('eth_call', [{ to: STAKING_ADDRESS, data, gas: GAS }, hex(number)], parseRpcBytes)
        if (bytes === '') {
          const happened = `this chain has none at ${STAKING_ADDRESS}`
          throw new SourceError({ doing: READ, happened, advice: 'set staking.enabled to false' })
        }
        return parse(bytes)
      }
      return {
        epoch: () => call(stakingCall.epoch(), parseStakingEpoch),
        validator: (id: bigint) => call(stakingCall.validator(id), parseStakingValidator),
        delegator: (id: bigint, address: string) => call(stakingCall.delegator(id, address), parseStakingDelegator),
        withdrawal: (id: bigint, address: string, request: number) =>
          call(stakingCall.withdrawal(id, address, request), parseWithdrawalRequest),
        /** The native balance of an address in wei: monad-bft, monad-rpc/src/handlers/eth/account.rs, monad_eth_getBalance. */
        balance: (address: string) => ask('eth_getBalance', [address, hex(number)], parseRpcAmount),
        /** The ids of a set in the order of the node. */
        set: (view: SetView) => readSet((start) => call(stakingCall.set(view, start), parseSetPage), view),
        /** The id that the node stores for this key; 0: none. To be proved by `validator`. */
        storedId: (key: string) =>
          ask('eth_getStorageAt', [STAKING_ADDRESS, validatorIdSlot(key), hex(number)], (text) =>
            parseIdSlot(parseRpcBytes(text)),
          ),
      }
    },
  }
}

type ReadPage = (start: bigint) => Promise<ReturnType<typeof parseSetPage>>

const readSet = async (page: ReadPage, view: SetView): Promise<readonly bigint[]> => {
  const ids: bigint[] = []
  let start = 0n
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { isLast, nextIndex, ids: found } = await page(start)
    ids.push(...found)
    if (isLast) return ids
    if (nextIndex <= start) break
    start = nextIndex
  }
  throw new NodeUnavailableError(`the pages of the ${view} set do not end`)
}
