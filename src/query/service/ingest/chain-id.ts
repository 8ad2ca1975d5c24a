import { type Clock } from '../../../core/clock.ts'
import { createRpc } from './rpc.ts'
import { asQuantity } from './tip.ts'
import { createTransport } from './transport.ts'
import { understood } from './understood.ts'

interface ChainIdOptions {
  readonly rpcUrl: string
  readonly clock: Clock
  /** In milliseconds. */
  readonly timeout?: number
}

const MAX_BYTES = 65_536

/** Which chain the node is of. Throws an IngestError where it does not say. */
export const readChainId = async (
  { rpcUrl, clock, timeout = 10_000 }: ChainIdOptions,
  signal: AbortSignal,
): Promise<number> => {
  const rpc = createRpc(createTransport({ rpcUrl, clock, timeout, maxBytes: MAX_BYTES }), rpcUrl)
  const { result } = await rpc.one({ method: 'eth_chainId', params: [] }, signal)
  return understood('the chain id', result, asQuantity)
}
