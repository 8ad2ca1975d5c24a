import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { z } from 'zod'
import { type Comparison, inTurn, MAIN, median, ROOT, type Take } from './comparison.ts'

const RUNS = 5
const LOG = join(ROOT, 'test/fixtures/ledger-tail/versions.jsonl')
const COMMANDS: readonly (readonly string[])[] = [
  ['-e', '0'],
  [MAIN, '--version'],
  [MAIN, 'check', '--help'],
  [MAIN, 'runbook', 'ChainBlockStalled'],
  [MAIN, 'parse', 'ledger-tail', LOG],
]
const HOOK = `
const { readFileSync, writeSync } = require('node:fs')
process.on('exit', () => {
  const [, peak] = /^VmHWM:\\s+(\\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))
  writeSync(3, JSON.stringify({ ...process.cpuUsage(), peak: Number(peak) }))
})
`
const usageSchema = z.object({ user: z.number(), system: z.number(), peak: z.number() })

export const startup: Comparison = {
  name: 'startup',
  title: 'Start of a command',
  fairness: `\`node -e 0\` is what each program on Node.js needs. Each command runs ${RUNS} times in a round, which counts their median.
The same hook is loaded with \`-r\` into all of them and reads, when the process exits, the CPU time of all threads (\`getrusage\`) and the peak of
resident memory (\`VmHWM\`).`,
  open: async ({ folder }) => {
    const hook = join(folder, 'usage.cjs')
    await writeFile(hook, HOOK)
    return {
      programs: COMMANDS.map((args) => nameOf(args)),
      round: async () => inTurn(COMMANDS, async (args) => measure(hook, args)),
    }
  },
}

const nameOf = ([first = '', ...rest]: readonly string[]): string =>
  first === MAIN
    ? `chain-agent ${rest.map((word) => (word === LOG ? 'FILE' : word)).join(' ')}`
    : `node ${first} ${rest.join(' ')}`

const measure = async (hook: string, args: readonly string[]): Promise<Take> => {
  const [cpu, peak]: [number[], number[]] = [[], []]
  for (let run = 0; run < RUNS; run += 1) {
    const { stdio } = await execa(process.execPath, ['-r', hook, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    })
    if (args[0] === MAIN && stdio[1] === '') throw new Error(`${nameOf(args)} printed nothing; expected its output`)
    const usage = usageSchema.parse(JSON.parse(String(stdio[3])))
    cpu.push((usage.user + usage.system) / 1000)
    peak.push(usage.peak / 1024)
  }
  return { figures: { 'CPU, ms': median(cpu), 'peak RSS, MiB': median(peak) } }
}
