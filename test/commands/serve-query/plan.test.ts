import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { planOf, describePlan } from '../../../query/commands/serve-query/open-store.ts'

const ONE = `0x${'1'.repeat(40)}`
const TWO = `0x${'2'.repeat(40)}`
const TOPIC = `0x${'a'.repeat(64)}`

const planWith = (settings: Readonly<Record<string, unknown>>) =>
  planOf(
    loadConfig({
      env: {},
      flags: Object.entries(settings).map(([key, value]) => ({
        path: `serveQuery.${key}`,
        value: typeof value === 'string' ? value : JSON.stringify(value),
        typed: key,
      })),
    }).config,
  )

describe('the storage plan', () => {
  it('is not limited by topics of which only positions are named', () => {
    expect(() => planWith({ topics: [[], []] })).toThrow(/--contract or --topic.*--retention-blocks.*--unbounded/s)
  })

  it.each([
    [{ unbounded: true }, {}, 'all logs of all contracts'],
    [{ contracts: [ONE] }, {}, `all logs of the contract ${ONE}`],
    [{ contracts: [ONE, TWO] }, {}, 'all logs of 2 contracts'],
    [{ topics: [[TOPIC]] }, {}, 'all logs of all contracts with the given topics'],
    [{ retentionBlocks: 500 }, { blocks: 500 }, 'logs of all contracts, the newest 500 blocks'],
    [
      { retentionBytes: '1.5TB', retentionBlocks: 7 },
      { blocks: 7, bytes: 1_500_000_000_000 },
      'logs of all contracts, the newest 7 blocks and the newest blocks within 1.36 TiB',
    ],
  ] as const)('%j', (settings, retention, words) => {
    const plan = planWith(settings)
    expect(plan.retention).toEqual({ blocks: null, bytes: null, ...retention })
    expect(describePlan(plan)).toBe(words)
  })

  it('is canonical, whatever the order of the input', () => {
    const plan = planWith({
      contracts: [TWO.toUpperCase().replace('X', 'x'), ONE, TWO],
      topics: [[], [TOPIC.toUpperCase().replace('X', 'x'), TOPIC], []],
    })
    expect(plan.scope).toEqual({ addresses: [ONE, TWO], topics: [[], [TOPIC]] })
  })

  it.each([
    ['a store that is no place', { store: 'logs' }, /directory that begins with \//],
    ['a password in the address', { store: 'clickhouse://me:pass@db:8123/logs' }, /^(?!.*pass@).*storePasswordFile/s],
  ])('%s is rejected', (_, settings, words) => {
    expect(() => planWith(settings)).toThrow(words)
  })

  it('may be on several servers, which the URL parser of Node does not support', () => {
    const store = 'clickhouse://me@one:8123,two:8123/logs?cluster=all'
    expect(() => planWith({ store, unbounded: true })).not.toThrow()
  })
})
