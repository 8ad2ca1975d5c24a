import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { installed } from '../../test/support/installed.ts'
import { must } from '../../test/support/programs.ts'

const HERE = import.meta.dirname
const SIZES = (process.env['LOGS'] ?? '200000,1000000').split(',').map(Number)
const ROUNDS = Number(process.env['ROUNDS'] ?? 3)

interface Way {
  readonly name: string
  /** The file in ways/. */
  readonly file: string
  readonly rounds?: number
  /** No more logs than this: it would take too long. */
  readonly upTo?: number
}

/** From the bytes of JSON pages to balances. */
const FROM_BYTES: readonly Way[] = [
  { name: 'ours, over the bytes', file: 'ours-fast' },
  { name: "ours, with the client's checks of each page", file: 'ours-checked' },
  { name: 'ours, generic, with the checks', file: 'ours-generic', upTo: 1_000_000 },
  { name: 'the usual way: JSON.parse, BigInt, Map', file: 'usual' },
  { name: "official client's Decoder + Map, handed parsed logs", file: 'decoder', upTo: 1_000_000 },
  { name: 'viem decodeEventLog + Map', file: 'viem', upTo: 200_000, rounds: 1 },
  { name: 'ethers parseLog + Map', file: 'ethers', upTo: 200_000, rounds: 1 },
]

/** From a server on this machine to balances. */
const OVER_HTTP: readonly Way[] = [
  { name: 'ours: client and ledger, JSON', file: 'ours-client' },
  { name: 'fetch + the usual way, JSON', file: 'fetch-usual' },
  { name: 'official stream of 10 + Map, Arrow', file: 'official-stream' },
  { name: 'official get + Map, Arrow', file: 'official-get', upTo: 1_000_000 },
  { name: 'official get + its Decoder + Map, Arrow', file: 'official-decoder', upTo: 1_000_000 },
]

const measureSchema = z.object({
  seconds: z.number(),
  cpuSeconds: z.number(),
  rowsCpuSeconds: z.number(),
  peakBytes: z.number(),
  idleBytes: z.number(),
  holders: z.number(),
  checksum: z.string(),
})

let folder = ''
beforeAll(async () => {
  await installed(HERE)
  folder = await mkdtemp(join(tmpdir(), 'token-balances-'))
}, 300_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

for (const logs of SIZES) {
  test(`balances from ${logs} logs`, { timeout: 3_600_000 }, async () => {
    const history = join(folder, `${logs}`)
    await must(process.execPath, [join(HERE, 'history.mjs'), history, `${logs}`], {
      timeout: 600_000,
    })
    const server = execa(process.execPath, [join(HERE, 'server.mjs'), history], { stdin: 'pipe' })
    try {
      const url = await new Promise<string>((resolve, reject) => {
        server.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()))
        server.catch(reject)
      })
      const checksums = new Set<string>()
      for (const ways of [FROM_BYTES, OVER_HTTP]) {
        const measured = await interleaved(
          ways.filter(({ upTo = Infinity }) => logs <= upTo),
          [history, url],
        )
        console.log(table(measured, logs))
        for (const { takes } of measured) for (const { checksum } of takes) checksums.add(checksum)
      }
      expect([...checksums]).toHaveLength(1)
    } finally {
      server.stdin.end()
      await server
      await rm(history, { recursive: true })
    }
  })
}

type Measure = z.output<typeof measureSchema>

interface Measured {
  readonly name: string
  readonly takes: Measure[]
}

/** Each in a process of its own, one after another, and all of them once more. */
const interleaved = async (
  ways: readonly Way[],
  place: readonly string[],
): Promise<readonly Measured[]> => {
  const measured = ways.map(({ name }): Measured => ({ name, takes: [] }))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { file, rounds = ROUNDS }] of ways.entries()) {
      if (round >= rounds) continue
      const args = ['--expose-gc', join(HERE, 'worker.mjs'), file, ...place]
      const words = await must(process.execPath, args, { timeout: 1_800_000 })
      measured[index]?.takes.push(measureSchema.parse(JSON.parse(words)))
    }
  }
  return measured
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN

const table = (measured: readonly Measured[], logs: number): string => {
  const rateOf = ({ takes }: Measured): number => logs / median(takes.map(({ seconds }) => seconds))
  const [first] = measured
  const best = first === undefined ? Number.NaN : rateOf(first)
  const processorOf = ({ takes }: Measured): number =>
    median(takes.map(({ cpuSeconds }) => cpuSeconds))
  const least = first === undefined ? Number.NaN : processorOf(first)
  const lines = measured.map((each) => {
    const rates = each.takes.map(({ seconds }) => logs / seconds / 1000)
    const spread = `${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)}`
    const of = (pick: (take: Measure) => number): number => median(each.takes.map(pick))
    return [
      each.name,
      `${(rateOf(each) / 1000).toFixed(0)} (${spread})`,
      (best / rateOf(each)).toFixed(2),
      ((processorOf(each) / logs) * 1e9).toFixed(0),
      (processorOf(each) / least).toFixed(2),
      of((take) => take.rowsCpuSeconds).toFixed(2),
      (of(({ peakBytes }) => peakBytes) / 1e6).toFixed(0),
      [...new Set(each.takes.map(({ checksum }) => checksum))].join(' '),
    ].join(' | ')
  })
  const head = `| ${logs} logs, ${first?.takes[0]?.holders} holders | thousand logs/s | first ÷ it | processor, ns a log | it ÷ first | sorted list, processor s | peak RSS, MB | checksum |`
  return [
    head,
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...lines.map((line) => `| ${line} |`),
  ].join('\n')
}
