// A node of a busy chain: each block has 4,000 transactions and 16,000 logs, 10 MB of JSON-RPC. Prints its URL.
//   node node.mjs BLOCKS
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

const blocks = Number(process.argv[2])
const TRANSACTIONS = 4000
const LOGS = 16_000
const CONTRACTS = 2000

const random = (bytes) => randomBytes(bytes).toString('hex')
const hex = (value) => `0x${value.toString(16)}`
const eight = (block) => block.toString(16).padStart(8, '0')
/** Eight digits of it are the block's. */
const rest = random(28)
const hashOf = (block) => `0x${eight(block)}${rest}`
const transactions = Array.from({ length: TRANSACTIONS }, () => random(28))
const contracts = Array.from({ length: CONTRACTS }, () => random(20))
const holders = Array.from({ length: 50_000 }, () => `0x${'0'.repeat(24)}${random(20)}`)
const pick = (list) => list[Math.floor(list.length * Math.random() ** 3)]
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

// One text for all blocks, with the positions of the block's eight digits.
const MARK = 'ZZZZZZZZ'
const logs = Array.from({ length: LOGS }, (_, index) => {
  const transaction = Math.floor(index / (LOGS / TRANSACTIONS))
  return JSON.stringify({
    address: `0x${pick(contracts)}`,
    topics: [TRANSFER, pick(holders), pick(holders)],
    data: `0x${'0'.repeat(40)}${random(12)}`,
    blockHash: `0x${MARK}${rest}`,
    blockNumber: `0x1${MARK}`,
    transactionHash: `0x${MARK}${transactions[transaction]}`,
    transactionIndex: hex(transaction),
    logIndex: hex(index),
    removed: false,
    blockTimestamp: '0x68000000',
  })
})
const templateOf = (text) => {
  const places = []
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 8)) places.push(at)
  return { bytes: Buffer.from(text), places }
}
const logsTemplate = templateOf(logs.join())
const headTemplate = templateOf(
  JSON.stringify({
    hash: `0x${MARK}${rest}`,
    number: `0x1${MARK}`,
    transactions: transactions.map((each) => `0x${MARK}${each}`),
    logsBloom: `0x${'f'.repeat(512)}`,
    gasUsed: '0x5f5e100',
    miner: `0x${random(20)}`,
  }),
)
/** Of the transaction whose hash ends like this. */
const receiptOf = (end) => {
  const at = transactions.indexOf(end)
  const own = logs.slice((at * LOGS) / TRANSACTIONS, ((at + 1) * LOGS) / TRANSACTIONS)
  const head = `"blockHash":"0x${MARK}${rest}","transactionHash":"0x${MARK}${end}"`
  return templateOf(`{${head},"logsBloom":"0x${'f'.repeat(512)}","logs":[${own.join()}]}`)
}
const filled = ({ bytes, places }, block) => {
  const mark = Buffer.from(eight(block))
  for (const place of places) mark.copy(bytes, place)
  return Buffer.from(bytes)
}

/** Numbers have a digit before the eight, so that they have no leading zeros. */
const FIRST = 0x1_0000_0000
const HEIGHT = FIRST + blocks - 1

const resultOf = ({ method, params: [first] }) => {
  if (method === 'eth_chainId') return [Buffer.from('"0x8f"')]
  if (method === 'eth_syncing') return [Buffer.from('false')]
  if (method === 'eth_getBlockByNumber') {
    const number = first.startsWith('0x') ? Number(first) : HEIGHT
    const block = number - FIRST
    const head = filled(headTemplate, block)
    const time = hex(Math.floor(Date.now() / 1000))
    const more = `,"timestamp":"${time}","parentHash":"${hashOf(block === 0 ? 0xffffffff : block - 1)}"}`
    return [head.subarray(0, -1), Buffer.from(more)]
  }
  if (method === 'eth_getLogs') {
    const { blockHash, fromBlock, toBlock } = first
    const from = blockHash === undefined ? Number(fromBlock) - FIRST : Number(blockHash.slice(0, 10))
    const to = blockHash === undefined ? Number(toBlock) - FIRST : from
    const list = Array.from({ length: to - from + 1 }, (_, index) => filled(logsTemplate, from + index))
    return [
      Buffer.from('['),
      ...list.flatMap((each, index) => (index === 0 ? [each] : [Buffer.from(','), each])),
      Buffer.from(']'),
    ]
  }
  if (method === 'eth_getTransactionReceipt') {
    return [filled(receiptOf(first.slice(10)), Number(first.slice(0, 10)))]
  }
  return [Buffer.from('null')]
}

const serve = async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const asked = JSON.parse(Buffer.concat(chunks).toString())
  const calls = Array.isArray(asked) ? asked : [asked]
  const answers = calls.map((call) => [
    Buffer.from(`{"jsonrpc":"2.0","id":${call.id},"result":`),
    ...resultOf(call),
    Buffer.from('}'),
  ])
  const parts = answers.flatMap((each, index) => (index === 0 ? each : [Buffer.from(','), ...each]))
  const whole = Array.isArray(asked) ? [Buffer.from('['), ...parts, Buffer.from(']')] : parts
  const body = Buffer.concat(whole)
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
  response.end(body)
}
const server = createServer((request, response) => {
  void serve(request, response)
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`))
