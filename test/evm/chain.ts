import { z } from 'zod'
import type { Contract } from './contracts.ts'

/** What a transaction may have at most since EIP-7825, and the blocks of the chain. */
const MOST_GAS = 0xff_ff_ff
const BLOCK_GAS = 60_000_000

const replySchema = z.object({
  id: z.number(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
})
const receiptSchema = z.object({ status: z.string(), contractAddress: z.string().nullable() })

/** One argument of a call: a word, or an array of words. */
export type Argument = bigint | string | readonly (bigint | string)[]

export interface Transaction {
  readonly from?: string
  readonly to: Deployed
  readonly method: string
  readonly args: readonly Argument[]
}

export interface Deployed extends Contract {
  readonly address: string
}

export interface Chain {
  readonly accounts: readonly string[]
  ask(method: string, params: readonly unknown[]): Promise<unknown>
  deploy(contract: Contract, args: readonly Argument[]): Promise<Deployed>
  /** All in one block; throws where one of them fails. */
  send(transactions: readonly Transaction[]): Promise<void>
  /** The first word of each answer, in the order of the questions; null where the contract reverts. */
  read(questions: readonly Transaction[], block?: number): Promise<readonly (bigint | null)[]>
  height(): Promise<number>
}

/** A development chain that mines on command. */
export const chainOf = async (url: string): Promise<Chain> => {
  let lastId = 0
  const batch = async (method: string, list: readonly (readonly unknown[])[]) => {
    const first = lastId + 1
    lastId += list.length
    const body = list.map((params, index) => ({
      jsonrpc: '2.0',
      id: first + index,
      method,
      params,
    }))
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    const replies = z.array(replySchema).parse(await response.json())
    const byId = new Map(replies.map((reply) => [reply.id, reply]))
    return body.map(({ id }) => byId.get(id) ?? { id, error: { message: 'no answer' } })
  }
  const askAll = async (method: string, list: readonly (readonly unknown[])[]) =>
    (await batch(method, list)).map(({ result, error }) => {
      if (error === undefined) return result
      throw new Error(`${method}: ${error.message}`)
    })
  const ask = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    (await askAll(method, [params]))[0]
  const receiptsOf = async (hashes: readonly unknown[]) => {
    const answers = await askAll(
      'eth_getTransactionReceipt',
      hashes.map((hash) => [hash]),
    )
    const receipts = z.array(receiptSchema).parse(answers)
    const failed = receipts.findIndex(({ status }) => status !== '0x1')
    if (failed >= 0) throw new Error(`transaction ${failed} of ${receipts.length} reverted`)
    return receipts
  }
  const accounts = z.array(z.string()).parse(await ask('eth_accounts', []))
  const [owner = ''] = accounts

  await ask('evm_setIntervalMining', [0])
  return {
    accounts,
    ask,
    deploy: async (contract, args) => {
      const data = `0x${contract.code}${encoded(args)}`
      const hash = await ask('eth_sendTransaction', [{ from: owner, gas: hex(MOST_GAS), data }])
      await ask('evm_mine', [])
      const [receipt] = await receiptsOf([hash])
      return { ...contract, address: z.string().parse(receipt?.contractAddress) }
    },
    send: async (transactions) => {
      const gas = hex(Math.min(MOST_GAS, Math.floor(BLOCK_GAS / transactions.length)))
      const bodies = transactions.map((each) => [{ from: each.from ?? owner, gas, ...bodyOf(each) }])
      const hashes = await askAll('eth_sendTransaction', bodies)
      await ask('evm_mine', [])
      await receiptsOf(hashes)
    },
    read: async (questions, block) => {
      const tag = block === undefined ? 'latest' : hex(block)
      const replies = await batch(
        'eth_call',
        questions.map((each) => [bodyOf(each), tag]),
      )
      return replies.map(({ result }) => (typeof result === 'string' ? BigInt(result.slice(0, 66)) : null))
    },
    height: async () => Number(await ask('eth_blockNumber', [])),
  }
}

const bodyOf = ({ to, method, args }: Transaction) => {
  const selector = to.methods[method]
  if (selector === undefined) throw new Error(`${method} is not of this contract`)
  return { to: to.address, data: `0x${selector}${encoded(args)}` }
}

/** As the contract ABI has it: words in the head; an array there is the place of its length and words behind the head. */
const encoded = (args: readonly Argument[]): string => {
  const tail: string[] = []
  const head = args.map((arg) => {
    if (typeof arg === 'bigint' || typeof arg === 'string') return word(arg)
    const place = (args.length + tail.length) * 32
    tail.push(word(BigInt(arg.length)), ...arg.map(word))
    return word(BigInt(place))
  })
  return [...head, ...tail].join('')
}

const hex = (value: number): string => `0x${value.toString(16)}`

const word = (value: bigint | string): string => BigInt(value).toString(16).padStart(64, '0')
