import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { ALL_NODE_METRICS } from '../src/collectors/native/node-metrics.ts'
import { NODE_DOCUMENTATION } from '../src/domain/node-documentation.ts'
import { NODE_FACTS } from '../src/domain/node-facts.ts'
import { MESSAGES, VARIABLE_MESSAGES } from '../src/parsers/consensus-messages.ts'
import { parseExecutionLine } from '../src/parsers/execution-log.ts'
import { LOG_PATTERNS } from '../src/parsers/log-patterns/list.ts'

const places = z.record(
  z.string().regex(/^monad(?:-bft)?\/[\w/.-]+\.(?:rs|cpp|c|hpp|sh|toml)$/),
  z.array(z.string()).nonempty(),
)
const entry = z
  .object({
    own: places.optional(),
    received: places.optional(),
    notInSource: z.string().optional(),
    value: z.number().optional(),
  })
  .refine(({ own, received, notInSource }) => (own ?? received ?? notInSource) !== undefined)
const entries = z.record(z.string(), entry)

const nodeSource = z
  .object({
    patterns: entries,
    messages: entries,
    execution: entries,
    metrics: entries,
    facts: entries,
    documents: z.record(z.string(), z.array(z.string()).nonempty()),
  })
  .parse(parse(readFileSync(new URL('../scripts/compare-source/node-source.yaml', import.meta.url), 'utf8')))

describe('node-source.yaml', () => {
  test.each([
    ['patterns', LOG_PATTERNS.map(({ name }) => name)],
    ['messages', [...MESSAGES.keys(), ...VARIABLE_MESSAGES.map(([pattern]) => pattern.source)]],
    ['metrics', ALL_NODE_METRICS.map(({ name }) => name)],
    ['documents', Object.keys(NODE_DOCUMENTATION)],
  ] as const)('has an entry for each of the %s', (table, names) => {
    expect(Object.keys(nodeSource[table]).toSorted()).toEqual([...names].toSorted())
  })

  test('has a value of each fact that the program does not have, and of no other', () => {
    const others = Object.entries(nodeSource.facts).filter(([, { value }]) => value === undefined)
    expect(others.map(([name]) => name).toSorted()).toEqual(Object.keys(NODE_FACTS).toSorted())
  })

  test('has the beginnings of the lines of execution', () => {
    for (const beginning of Object.keys(nodeSource.execution)) {
      const text = beginning.replace('{:4d}', '100')
      // A line without the rest is known, and not complete.
      expect(() => parseExecutionLine(text), beginning).toThrow('Could not parse a line of the execution log')
    }
  })

  test('a line that other nodes alone can cause is never critical', () => {
    const caused = LOG_PATTERNS.filter(({ name }) => nodeSource.patterns[name]?.received !== undefined)
    expect(caused.length).toBeGreaterThan(8)
    expect(caused.filter(({ severity }) => severity === 'critical').map(({ name }) => name)).toEqual([])
  })
})
