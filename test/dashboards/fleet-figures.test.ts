import { expect, test } from 'vitest'
import { requirePrometheus } from '../support/prometheus.ts'
import { amiss } from './figures.ts'

const describe = await requirePrometheus()

describe('a node with a critical alert', () => {
  const alert = (instance: string, name: string, severity: string): string =>
    `ALERTS{instance="${instance}",alertstate="firing",alertname="${name}",severity="${severity}",component="consensus"}`
  /** Both follow the chain; one has two critical alerts, the other a warning. A third is not a target any more. */
  const past = {
    'up{instance="a"}': '1x9',
    'up{instance="b"}': '1x9',
    'up{instance="c"}': '1x2 stale',
    'instance:chain_block_age:seconds{instance="a"}': '1x9',
    'instance:chain_block_age:seconds{instance="b"}': '1x9',
    [alert('a', 'ChainNotVoting', 'critical')]: '1x9',
    [alert('a', 'ChainStorageFull', 'critical')]: '1x9',
    [alert('b', 'ChainBehind', 'warning')]: '1x9',
  }

  test('is above all nodes without one', async () => {
    expect(
      await amiss(
        { dashboard: 'fleet', panel: 'Every node' },
        { past, after: '5m' },
        {
          '{instance="a"}': 11,
          '{instance="b"}': 1,
          '{instance="c"}': 9,
        },
      ),
    ).toBe('')
  })

  test.each([
    ['With critical alerts', 1],
    ['With warnings', 1],
    ['Following', 1],
    ['Nodes', 3],
  ])('the tiles count nodes: %s', async (panel, count) => {
    expect(await amiss({ dashboard: 'fleet', panel }, { past, after: '5m' }, { '{}': count })).toBe('')
  })

  test('the tiles have 0 if no alert fires', async () => {
    const healthy = { 'up{instance="a"}': '1x9', 'instance:chain_block_age:seconds{instance="a"}': '1x9' }
    for (const panel of ['With critical alerts', 'With warnings'])
      expect(await amiss({ dashboard: 'fleet', panel }, { past: healthy, after: '5m' }, { '{}': 0 })).toBe('')
  })
})

describe('nodes of the same name in two clusters', () => {
  const inBoth = (metric: string, labels: string, [north = '', south = '']: readonly string[]) => ({
    [`${metric}{instance="a",cluster="north"${labels}}`]: north,
    [`${metric}{instance="a",cluster="south"${labels}}`]: south,
  })
  const past = {
    ...inBoth('up', '', ['1x9', '1x2 0x6']),
    ...inBoth('instance:chain_block_age:seconds', '', ['1x9', '1x2 stale']),
    ...inBoth('chain_consensus_round', '', ['107x9', '209x9']),
    ...inBoth('chain_ledger_round', ',event="proposed"', ['100x9', '200x9']),
  }

  test('are two rows', async () => {
    expect(
      await amiss(
        { dashboard: 'fleet', panel: 'Every node' },
        { past, after: '5m' },
        {
          '{instance="a",cluster="north"}': 1,
          '{instance="a",cluster="south"}': 8,
        },
      ),
    ).toBe('')
  })

  test('are two lines of a graph that compares two metrics', async () => {
    const rounds = { dashboard: 'consensus', panel: 'Rounds by source, relative to the ledger stream', instance: 'a' }
    expect(
      await amiss(
        rounds,
        { past, after: '5m' },
        {
          '{instance="a",cluster="north"}': 7,
          '{instance="a",cluster="south"}': 9,
        },
      ),
    ).toBe('')
  })

  test('are one if their cluster is selected', async () => {
    const figure = { dashboard: 'fleet', panel: 'Nodes', cluster: 'south' }
    expect(await amiss(figure, { past, after: '5m' }, { '{}': 1 })).toBe('')
  })
})
