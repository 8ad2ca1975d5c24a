import { join } from 'node:path'
import { z } from 'zod'
import { run } from '../support/programs.ts'
import { type Balances } from './truth.ts'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

const outputSchema = z.object({
  complete: z.boolean(),
  partial: z.boolean(),
  nonConserving: z.boolean(),
  through: z.number(),
  balances: z.array(
    z.object({ address: z.string(), id: z.string().optional(), balance: z.string() }),
  ),
  intervals: z.array(z.object({ from: z.string(), to: z.string(), owner: z.string() })).default([]),
  verified: z.object({
    asked: z.number(),
    equal: z.number(),
    different: z.array(z.object({ address: z.string(), ours: z.string(), theirs: z.string() })),
  }),
})

/** `chain-agent balances` as a process, with the key in its environment. */
export const balancesCommand = async (words: readonly string[], apiKey: string) => {
  const args = [MAIN, 'balances', ...words, '--format', 'json', '--quiet']
  const env = { CHAIN_AGENT_API_KEY: apiKey }
  const { code, stdout, stderr } = await run(process.execPath, args, { env })
  if (!stdout.startsWith('{')) throw new Error(`it ended with ${code} and said: ${stderr}`)
  const output = outputSchema.parse(JSON.parse(stdout))
  const balances: Balances = new Map(
    output.balances.map(({ address, id, balance }) => [
      id === undefined ? address : `${id} ${address}`,
      BigInt(balance),
    ]),
  )
  return { code, stderr, output, balances }
}
