import type { ServedLog } from './query-chain.ts'

export const TOKEN = `0x${'70'.repeat(20)}`
export const ZERO = `0x${'00'.repeat(20)}`
export const ADA = `0x${'aa'.repeat(20)}`
export const BOB = `0x${'bb'.repeat(20)}`
/** Keccak-256 of Transfer(address,address,uint256), as shown by every explorer. */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

const word = (value: bigint): string => `0x${value.toString(16).padStart(64, '0')}`

interface LogPosition {
  readonly block: number
  readonly index?: number
}

interface TransferEvent {
  readonly from: string
  readonly to: string
  readonly value: bigint
}

/** A transfer of an ERC-20. */
export const transfer = ({ block, index = 0 }: LogPosition, { from, to, value }: TransferEvent): ServedLog => ({
  block,
  index,
  address: TOKEN,
  topics: [TRANSFER, word(BigInt(from)), word(BigInt(to)), null],
  data: word(value),
})

/** A transfer of one token of an ERC-721. */
export const move = (place: LogPosition, { from, to, value: id }: TransferEvent): ServedLog => ({
  ...transfer(place, { from, to, value: 0n }),
  topics: [TRANSFER, word(BigInt(from)), word(BigInt(to)), word(id)],
  data: '0x',
})

/** Ada is given 10 in each block, and gives Bob 3 of them: after n blocks they have 7n and 3n. */
export const history = (blocks: number): readonly ServedLog[] =>
  Array.from({ length: blocks }, (_, block) => [
    transfer({ block }, { from: ZERO, to: ADA, value: 10n }),
    transfer({ block, index: 1 }, { from: ADA, to: BOB, value: 3n }),
  ]).flat()
