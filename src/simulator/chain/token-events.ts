/** Contracts of the simulated chain. Their events depend only on the block number. */
export const TOKENS = {
  erc20: '0x70ce000000000000000000000000000000000001',
  erc721: '0x70ce000000000000000000000000000000000002',
  erc1155: '0x70ce000000000000000000000000000000000003',
} as const

export interface TokenEvent {
  readonly address: string
  readonly topics: readonly string[]
  readonly data: string
}

/** Keccak-256 of Transfer(address,address,uint256). */
export const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
/** Keccak-256 of TransferSingle(address,address,address,uint256,uint256). */
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
/** Keccak-256 of TransferBatch(address,address,address,uint256[],uint256[]). */
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

const NONE = 0n
const FIRST = BigInt(`0x${'a1'.repeat(20)}`)
const SECOND = BigInt(`0x${'b2'.repeat(20)}`)
const COIN = 10n ** 18n

/**
 * The token events of a block, in log order. No event moves what was not minted in the same block, so a ledger that
 * starts at any block has exact balances of what was minted since.
 *
 * - Block numbers divisible by 5: ERC-20, mint 10 to FIRST, transfer 4 to SECOND, burn 1 of SECOND.
 * - Divisible by 7: ERC-721, mint ids 3n, 3n + 1 and 3n + 2 of block n to FIRST, transfer 3n + 1 to SECOND, burn 3n + 2.
 * - Divisible by 11: ERC-1155, mint 10 of id 1 and 20 of id 2 to FIRST, transfer 4 of id 1 to SECOND, burn 1 of them.
 */
export const tokenEventsIn = (block: bigint): readonly TokenEvent[] => [
  ...(block % 5n === 0n ? [erc20(NONE, FIRST, 10n), erc20(FIRST, SECOND, 4n), erc20(SECOND, NONE, 1n)] : []),
  ...(block % 7n === 0n
    ? [
        erc721(NONE, FIRST, 3n * block),
        erc721(NONE, FIRST, 3n * block + 1n),
        erc721(NONE, FIRST, 3n * block + 2n),
        erc721(FIRST, SECOND, 3n * block + 1n),
        erc721(FIRST, NONE, 3n * block + 2n),
      ]
    : []),
  ...(block % 11n === 0n
    ? [
        erc1155(
          { event: TRANSFER_BATCH, from: NONE, to: FIRST },
          // Two arrays: where each begins, then the length and the elements of each.
          [64n, 160n, 2n, 1n, 2n, 2n, 10n, 20n],
        ),
        erc1155({ event: TRANSFER_SINGLE, from: FIRST, to: SECOND }, [1n, 4n]),
        erc1155({ event: TRANSFER_SINGLE, from: SECOND, to: NONE }, [1n, 1n]),
      ]
    : []),
]

const erc20 = (from: bigint, to: bigint, coins: bigint): TokenEvent => ({
  address: TOKENS.erc20,
  topics: [TRANSFER, bytes32([from]), bytes32([to])],
  data: bytes32([coins * COIN]),
})

const erc721 = (from: bigint, to: bigint, id: bigint): TokenEvent => ({
  address: TOKENS.erc721,
  topics: [TRANSFER, bytes32([from]), bytes32([to]), bytes32([id])],
  data: '0x',
})

interface Erc1155Event {
  readonly event: string
  readonly from: bigint
  readonly to: bigint
}

/** The operator is always FIRST. */
const erc1155 = ({ event, from, to }: Erc1155Event, data: readonly bigint[]): TokenEvent => ({
  address: TOKENS.erc1155,
  topics: [event, bytes32([FIRST]), bytes32([from]), bytes32([to])],
  data: bytes32(data),
})

/** Each value as 32 bytes, one after the other. */
const bytes32 = (values: readonly bigint[]): string =>
  `0x${values.map((value) => value.toString(16).padStart(64, '0')).join('')}`
