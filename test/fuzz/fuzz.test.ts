import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { formats } from '../../src/parsers/formats.ts'
import { cpuTime, fuzz, problemOf, repeatedText } from './engine.ts'
import { loadTargets } from './targets.ts'

/** Of each parser. More in `npm run fuzz`. */
const EXECUTIONS = Number(process.env['FUZZ_EXECUTIONS'])
const SEED = Number(process.env['FUZZ_SEED'] ?? 10)
const FIXTURES = 'test/fixtures/fuzz'

const targets = await loadTargets()
const names = targets.map(({ name }) => name)

test('every format of `chain-agent parse` is fuzzed', () => {
  expect(names).toEqual(expect.arrayContaining(formats.map(({ name }) => name)))
})

test('every fixture belongs to a parser', () => {
  expect(names).toEqual(expect.arrayContaining(readdirSync(FIXTURES)))
})

test.each(targets)('$name: every seed and every earlier finding is understood or an expected error', (target) => {
  const folder = join(FIXTURES, target.name)
  const found = existsSync(folder) ? readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8')) : []
  const problems = [...target.seeds, ...found].map((input) => problemOf(target, input))
  expect(problems.filter((problem) => problem !== undefined)).toEqual([])
})

test.each(targets)('$name: so is every mutated input', (target) => {
  const before = Error.stackTraceLimit
  // Most of the time of an expected error would be its stack trace.
  Error.stackTraceLimit = 0
  const { executions, findings } = fuzz(target, SEED, { executions: EXECUTIONS })
  Error.stackTraceLimit = before
  expect(findings).toEqual([])
  expect(executions).toBe(EXECUTIONS)
})

/** Repeated pieces that once took time that grew with the square of the input. */
const QUADRATIC = [
  { name: 'timedatectl', head: '', piece: '\n', tail: '' },
  { name: 'timedatectl', head: '', piece: '\n  ', tail: 'Offset: n/a' },
  { name: 'node-version', head: '', piece: '\n', tail: '' },
  { name: 'flags', head: '[', piece: '[', tail: '' },
  { name: 'flags', head: '', piece: 'a: {', tail: '' },
  { name: 'prometheus', head: 'm{a="', piece: '"', tail: '' },
  { name: 'prometheus', head: '', piece: 'm{a="\\"",', tail: '} 1\n' },
  { name: 'log-patterns', head: '2026-05-02 08:00:01.2 [7711] a.cpp:1 LOG_', piece: 'U', tail: '' },
  { name: 'redact-log', head: '', piece: '90071992547409910:00.00002', tail: '' },
]

test.each(QUADRATIC)('$name: a megabyte of $head$piece… takes seconds at most', ({ name, ...repeated }) => {
  const target = targets.find((one) => one.name === name)
  if (!target) throw new Error(`no parser ${name}`)
  expect(cpuTime(target, repeatedText(repeated, 1024 * 1024))).toBeLessThan(6000)
})
