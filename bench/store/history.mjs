// The blocks and filters of all stores. The same number of logs gives the same blocks.
import { random } from '../random.mjs'

const FIRST_BLOCK = 1_000_000
const LOGS_PER_BLOCK = 100
/** Blocks that are added at once. */
const BATCH = 1000
const CONTRACTS = 20_000
const TOPICS = 64
const HOLDERS = 1_000_000

const scratch = Buffer.alloc(64)

const hex = (next, bytes) => {
  for (let at = 0; at < bytes; at += 4) scratch.writeUInt32LE(Math.floor(next() * 4294967296), at)
  return scratch.toString('hex', 0, bytes)
}

const word = (number) => `0x${number.toString(16).padStart(64, '0')}`

const seeds = random(1)
const contracts = Array.from({ length: CONTRACTS }, () => `0x${hex(seeds, 20)}`)
const topics = Array.from({ length: TOPICS }, () => `0x${hex(seeds, 32)}`)
let holders

/** Blocks in batches. Contracts zipf-like, three logs in four of one topic, values of 18 decimals, two logs a transaction. */
export function* batches(logs) {
  holders ??= Array.from({ length: HOLDERS }, () => `0x${'0'.repeat(24)}${hex(seeds, 20)}`)
  const next = random(2)
  const holder = () => holders[Math.floor(next() ** 3 * HOLDERS)]
  let batch = []
  for (let at = 0; at < logs / LOGS_PER_BLOCK; at += 1) {
    const number = FIRST_BLOCK + at
    const kept = []
    let transactionIndex = -1
    let transactionHash = ''
    for (let logIndex = 0; logIndex < LOGS_PER_BLOCK; logIndex += 1) {
      if (logIndex === 0 || next() < 0.5) {
        transactionIndex += 1
        transactionHash = `0x${hex(next, 32)}`
      }
      kept.push({
        logIndex,
        transactionIndex,
        transactionHash,
        address: contracts[Math.floor(next() ** 4 * CONTRACTS)],
        topics: [next() < 0.75 ? topics[0] : topics[Math.floor(next() ** 3 * TOPICS)], holder(), holder()],
        data: `0x${hex(next, 9).padStart(64, '0')}`,
      })
    }
    batch.push({
      number,
      hash: word(number),
      parentHash: word(number - 1),
      timestamp: 1_700_000_000 + at,
      logCount: LOGS_PER_BLOCK,
      logs: kept,
    })
    if (batch.length === BATCH) {
      yield batch
      batch = []
    }
  }
  if (batch.length > 0) yield batch
}

/** Filters: a contract with one log in twelve, all of its blocks and a few of them, one with few logs, one without. */
export const questions = (logs) => {
  const last = FIRST_BLOCK + logs / LOGS_PER_BLOCK - 1
  const all = { from: FIRST_BLOCK, to: last, topic: topics[0] }
  const middle = Math.floor((FIRST_BLOCK + last) / 2)
  return [
    { name: 'contract with many logs', ...all, address: contracts[0] },
    { name: 'contract with many logs, 1,000 blocks', ...all, address: contracts[0], from: middle, to: middle + 999 },
    { name: 'contract with few logs', ...all, address: contracts[300] },
    { name: 'contract without logs', ...all, address: `0x${'00'.repeat(20)}` },
  ]
}
