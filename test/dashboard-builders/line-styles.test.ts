import { describe, expect, it } from 'vitest'
import { type AvoidedColours, lineStyleOf, lineStylesByName } from '../../dashboards/build/line-styles.ts'

/** As Grafana would: every pattern that matches the name, the later ones over the earlier. */
const lookOfName = (name: string, neighbours: AvoidedColours): string => {
  const properties = new Map<string, unknown>()
  for (const override of lineStylesByName(neighbours)) {
    const [, pattern = '', flags] = /^\/(.*)\/(\w*)$/.exec(override.name) ?? []
    if (!new RegExp(pattern, flags).test(name)) continue
    for (const { id, value } of override.properties) {
      // Colours and dashes are classes: no name may be in two of them.
      expect(properties.has(id), `${name} has two of ${id}`).toBe(false)
      properties.set(id, value)
    }
  }
  // A line without dashes is Grafana's default.
  expect(
    [...properties.keys()].filter((id) => id !== 'custom.lineStyle'),
    name,
  ).toEqual(['color'])
  return JSON.stringify([...properties])
}

const row = (from: number, name: (index: number) => string): readonly string[] =>
  Array.from({ length: 10 }, (_, index) => name(from + index))

describe.each(['nothing', 'limits'] as const)('lines next to %s', (neighbours) => {
  it('the first 16 all differ', () => {
    const looks = Array.from({ length: 16 }, (_, index) => JSON.stringify(lineStyleOf(index, neighbours)))
    expect(new Set(looks).size).toBe(16)
  })

  it.each([
    ['node-', (index: number) => `node-${index}`],
    ['node1', (index: number) => `node1${index}`],
    ['node-03…', (index: number) => `node-03${index}.example.com:9100`],
  ])('ten nodes numbered in a row all differ: %s', (_title, name) => {
    const looks = row(0, name).map((one) => lookOfName(one, neighbours))
    expect(new Set(looks).size).toBe(10)
  })

  it.each([
    ['node-12', 'node-22'],
    ['bft: exit-code', 'bft: oom-kill'],
    ['bft: exit-code', 'ledger-tail: exit-code'],
  ])('%s and %s differ', (one, other) => {
    expect(lookOfName(one, neighbours)).not.toBe(lookOfName(other, neighbours))
  })

  // A legend shows colours, and of dashes only that there are some.
  it.each([
    ['validator-1', 'fullnode-1'],
    ['other-rpc', 'query-service'],
  ])('%s and %s differ in colour', (one, other) => {
    const colour = (name: string): string | undefined => /#\w+/.exec(lookOfName(name, neighbours))?.[0]
    expect(colour(one)).toMatch(/^#/)
    expect(colour(one)).not.toBe(colour(other))
  })

  it('neither a domain, nor a port, nor capitals change the look', () => {
    const look = lookOfName('node-7', neighbours)
    for (const name of ['node-7.example.com', 'node-7:9100', 'node-7.example.com:9100', 'NODE-7'])
      expect(lookOfName(name, neighbours)).toBe(look)
  })
})

it('lines next to limits have not the colours of limits', () => {
  const text = JSON.stringify(lineStylesByName('limits'))
  expect(text).not.toMatch(/#E69F00|#D55E00/)
})
