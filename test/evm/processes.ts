import { join } from 'node:path'
import { execa } from 'execa'
import { z } from 'zod'
import { eventually, NotYetError } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { run } from '../support/programs.ts'
import { type Exposition, scrape } from '../support/scrape.ts'

export const MAIN = join(import.meta.dirname, '../../dist/main.js')
const heightSchema = z.object({ height: z.number().nullable() })

export interface Serving {
  readonly url: string
  /** All that it has written so far. */
  output(): string
  /** Height of the service; null while it is empty. Throws if the service does not return it. */
  height(): Promise<number | null>
  reaches(height: number): Promise<number>
  query(body: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>
  look(): Promise<Exposition>
  /** The status of /-/ready. */
  ready(): Promise<number>
  /** Its exit code; null where the signal ended it. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** `chain-agent serve-query` as a process, once it listens. */
export const startServing = async (words: readonly string[], apiKey?: string): Promise<Serving> => {
  const listen = `127.0.0.1:${await freePort()}`
  const metrics = `127.0.0.1:${await freePort()}`
  const args = [MAIN, 'serve-query', ...words, '--listen', listen, '--metrics-listen', metrics]
  const child = execa(process.execPath, args, {
    all: true,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    forceKillAfterDelay: 25_000,
  })
  const chunks: string[] = []
  child.all.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
  const output = (): string => chunks.join('')
  const ended = child.then(({ exitCode }) => exitCode ?? null)
  const authorization: Readonly<Record<string, string>> =
    apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }

  const url = `http://${listen}`
  const height = async (): Promise<number | null> => {
    const response = await fetch(`${url}/height`, { headers: authorization })
    if (!response.ok) throw new NotYetError(`${response.status} ${await response.text()}`)
    return heightSchema.parse(await response.json()).height
  }
  const serving: Serving = {
    url,
    output,
    height,
    reaches: async (wanted) => {
      const seen = await eventually(height, (now) => (now ?? -1) >= wanted, { every: 20 })
      return seen ?? -1
    },
    query: (body, headers = {}) =>
      fetch(`${url}/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...authorization, ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    look: () => scrape(`http://${metrics}/metrics`),
    ready: async () => (await fetch(`http://${metrics}/-/ready`)).status,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      return ended
    },
  }
  await Promise.race([
    ended.then((code) => {
      throw new Error(`it ended with ${code} and wrote:\n${output()}`)
    }),
    eventually(
      () => output(),
      (text) => text.includes('"msg":"Serving '),
      { every: 20 },
    ),
  ])
  return serving
}

const outputSchema = z.object({
  complete: z.boolean(),
  partial: z.boolean(),
  nonConserving: z.boolean(),
  hybrid: z.boolean(),
  through: z.number(),
  supply: z.string().nullable(),
  balances: z.array(z.object({ address: z.string(), id: z.string().optional(), balance: z.string() })),
  intervals: z.array(z.object({ from: z.string(), to: z.string(), owner: z.string() })).default([]),
  verified: z
    .object({
      asked: z.number(),
      equal: z.number(),
      different: z.array(z.object({ address: z.string(), ours: z.string(), theirs: z.string() })),
    })
    .optional(),
  stats: z.record(z.string(), z.number()),
})

/** `chain-agent balances` as a process, with the key in its environment. */
export const balancesCommand = async (words: readonly string[], apiKey: string) => {
  const args = [MAIN, 'balances', ...words, '--format', 'json', '--quiet']
  const env = { CHAIN_AGENT_API_KEY: apiKey }
  const { code, stdout, stderr } = await run(process.execPath, args, { env })
  if (!stdout.startsWith('{')) throw new Error(`it ended with ${code} and said: ${stderr}`)
  const output = outputSchema.parse(JSON.parse(stdout))
  const rows = output.balances.map(({ address, id, balance }) => [id ? `${id} ${address}` : address, balance] as const)
  const balances = new Map(rows.map(([name, balance]) => [name, BigInt(balance)]))
  for (const { from, to, owner } of output.intervals)
    for (let id = BigInt(from); id <= BigInt(to); id += 1n) balances.set(`${id} ${owner}`, 1n)
  return { code, stderr, output, balances }
}
