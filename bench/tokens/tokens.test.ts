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

interface Candidate {
  readonly name: string
  /** The file in candidates/. */
  readonly file: string
  readonly rounds?: number
  /** The largest history, because of its time. */
  readonly upTo?: number
}

/** From the bytes of JSON pages to balances. */
const FROM_BYTES: readonly Candidate[] = [
  { name: 'chain-agent, fast path', file: 'ledger-fast' },
  { name: 'chain-agent, fast path with page checks', file: 'ledger-checked' },
  { name: 'chain-agent, generic path with page checks', file: 'ledger-generic', upTo: 1_000_000 },
  { name: 'naive: JSON.parse, BigInt, Map', file: 'naive' },
  { name: 'Decoder of the official client on parsed logs + Map', file: 'decoder', upTo: 1_000_000 },
  { name: 'viem decodeEventLog + Map', file: 'viem', upTo: 200_000, rounds: 1 },
  { name: 'ethers parseLog + Map', file: 'ethers', upTo: 200_000, rounds: 1 },
]

/** From a server on this machine to balances. */
const OVER_HTTP: readonly Candidate[] = [
  { name: 'chain-agent: client and ledger, JSON', file: 'ledger-client' },
  { name: 'fetch + naive, JSON', file: 'fetch-naive' },
  { name: 'official stream of 10 + Map, Arrow', file: 'official-stream' },
  { name: 'official get + Map, Arrow', file: 'official-get', upTo: 1_000_000 },
  { name: 'official get + Decoder + Map, Arrow', file: 'official-decoder', upTo: 1_000_000 },
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
    await must(process.execPath, [join(HERE, 'history.mjs'), history, `${logs}`], { timeout: 600_000 })
    const server = execa(process.execPath, [join(HERE, 'server.mjs'), history], { stdin: 'pipe' })
    try {
      const url = await new Promise<string>((resolve, reject) => {
        server.stdout.once('data', (text: Buffer) => resolve(text.toString().trim()))
        server.catch(reject)
      })
      const checksums = new Set<string>()
      for (const candidates of [FROM_BYTES, OVER_HTTP]) {
        const measured = await interleaved(
          candidates.filter(({ upTo = Infinity }) => logs <= upTo),
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

/** Runs each candidate in its own process, one after another, and repeats the sequence. */
const interleaved = async (candidates: readonly Candidate[], args: readonly string[]): Promise<readonly Measured[]> => {
  const measured = candidates.map(({ name }): Measured => ({ name, takes: [] }))
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [index, { file, rounds = ROUNDS }] of candidates.entries()) {
      if (round >= rounds) continue
      const command = ['--expose-gc', join(HERE, 'worker.mjs'), file, ...args]
      const output = await must(process.execPath, command, { timeout: 1_800_000 })
      measured[index]?.takes.push(measureSchema.parse(JSON.parse(output)))
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
  const cpuOf = ({ takes }: Measured): number => median(takes.map(({ cpuSeconds }) => cpuSeconds))
  const least = first === undefined ? Number.NaN : cpuOf(first)
  const lines = measured.map((each) => {
    const rates = each.takes.map(({ seconds }) => logs / seconds / 1000)
    const spread = `${Math.min(...rates).toFixed(0)}–${Math.max(...rates).toFixed(0)}`
    const of = (pick: (take: Measure) => number): number => median(each.takes.map(pick))
    return [
      each.name,
      `${(rateOf(each) / 1000).toFixed(0)} (${spread})`,
      (best / rateOf(each)).toFixed(2),
      ((cpuOf(each) / logs) * 1e9).toFixed(0),
      (cpuOf(each) / least).toFixed(2),
      of((take) => take.rowsCpuSeconds).toFixed(2),
      (of(({ peakBytes }) => peakBytes) / 1e6).toFixed(0),
      [...new Set(each.takes.map(({ checksum }) => checksum))].join(' '),
    ].join(' | ')
  })
  const head = `| ${logs} logs, ${first?.takes[0]?.holders} holders | thousand logs/s | first ÷ this | CPU, ns per log | this ÷ first | sorted list, CPU s | peak RSS, MB | checksum |`
  return [head, '| --- | --- | --- | --- | --- | --- | --- | --- |', ...lines.map((line) => `| ${line} |`)].join('\n')
}
