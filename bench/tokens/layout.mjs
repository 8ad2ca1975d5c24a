// Constants of the history, for the script that writes it, the server and the programs.

export const FIRST_BLOCK = 1_000_000
export const LOGS_PER_BLOCK = 40
/** 10,000 logs, 3.5 MB. */
export const BLOCKS_PER_PAGE = 250
export const CONTRACT = `0x${'c0'.repeat(20)}`
/** keccak-256 of Transfer(address,address,uint256). */
export const TRANSFER = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
