import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { asError } from '../../src/core/errors.ts'
import { findSlowest, type Finding, fuzz } from './engine.ts'
import { loadTargets } from './targets.ts'

const USAGE = `Usage: npm run fuzz -- [--parser NAME] [--seconds N] [--executions N] [--seed S]

Mutates the fixtures of each parser for N seconds (default: 10), or until N executions. Exit code: 1 with findings, 2 usage error.`

const readOptions = () => {
  const options = {
    parser: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    executions: { type: 'string' },
    seed: { type: 'string', default: '1' },
    help: { type: 'boolean', default: false },
  } as const
  try {
    return parseArgs({ options }).values
  } catch (error) {
    process.stderr.write(`${asError(error).message}\n${USAGE}\n`)
    return process.exit(2)
  }
}
const values = readOptions()
if (values.help) {
  process.stdout.write(`${USAGE}\n`)
  process.exit()
}
const numberOf = (text: string): number => {
  const value = Number(text)
  if (text !== '' && Number.isFinite(value) && value >= 0) return value
  process.stderr.write(`${text}: expected a number\n${USAGE}\n`)
  process.exit(2)
}
const seconds = numberOf(values.seconds)
const executions = values.executions === undefined ? Infinity : numberOf(values.executions)
const seed = numberOf(values.seed)

const all = await loadTargets()
const targets = values.parser === undefined ? all : all.filter(({ name }) => name === values.parser)
if (targets.length === 0) {
  process.stderr.write(`${values.parser}: no such parser; there are: ${all.map(({ name }) => name).join(', ')}\n`)
  process.exit(2)
}

const MAX_SEARCH_SECONDS = 10

/** Findings become fixtures, which test/fuzz/fuzz.test.ts replays. */
const save = ({ target, input }: Finding): string => {
  const folder = `test/fixtures/fuzz/${target}`
  mkdirSync(folder, { recursive: true })
  const file = `${folder}/${createHash('sha256').update(input).digest('hex').slice(0, 8)}.txt`
  writeFileSync(file, input)
  return file
}

const short = (text: string): string => JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)

// Most of the time of an expected error would be its stack trace.
Error.stackTraceLimit = 0
process.stdout.write('parser             executions      /s  findings  slowest 64 KiB (CPU)\n')
let total = 0
let found = 0
for (const target of targets) {
  const result = fuzz(target, seed, { executions, seconds })
  const slowest = findSlowest(target, seed, { seconds: Math.min(MAX_SEARCH_SECONDS, seconds / 2) })
  total += result.executions
  found += result.findings.length
  const { repeated, milliseconds, growth } = slowest
  process.stdout.write(
    `${target.name.padEnd(18)} ${String(result.executions).padStart(10)} ` +
      `${String(Math.round(result.executions / result.seconds)).padStart(7)} ${String(result.findings.length).padStart(9)}  ` +
      `${milliseconds.toFixed(1)} ms, ×${growth.toFixed(1)} for ×4: ` +
      `${short(repeated.head)} ${short(repeated.piece)}… ${short(repeated.tail)}\n`,
  )
  for (const finding of result.findings) {
    process.stdout.write(`  ${finding.problem}: ${short(finding.input)}\n    ${save(finding)}\n`)
  }
}
process.stdout.write(`${total} executions, ${found} findings\n`)
process.exitCode = found > 0 ? 1 : 0
