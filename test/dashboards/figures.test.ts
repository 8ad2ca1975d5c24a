import { test } from 'vitest'
import { requirePrometheus } from '../support/prometheus.ts'
import { expectFigure, type Past } from './figures.ts'

const describe = await requirePrometheus()

describe('the state of a node', () => {
  const state = { dashboard: 'fleet', panel: 'Every node' }
  test.each<readonly [what: string, past: Past, state: number]>([
    ['a fresh block is not known to be behind without references', { age: '1x9' }, 1],
    ['behind its references', { age: '1x9', behind: '6x9' }, 5],
    ['in statesync', { age: '99x9', statesync: '1x9' }, 3],
    ['what died in statesync is down', { age: '99x9', statesync: '1x9', bft: '0x9' }, 7],
    ['what the operator announced', { bft: '0x9', maintenance: '1x9' }, 2],
    ['of an agent that is down nothing is known', { up: '1x2 0x6', age: '1x2 stale', bft: '1x2 stale' }, 8],
    ['a host that reboots in a maintenance window', { up: '1 0x8', maintenance: '1 _x8' }, 2],
  ])('%s', async (_what, brief, expected) => {
    const { up = '1x9', bft = '1x9', age, behind, statesync, maintenance } = brief
    const series = {
      'up{instance="a"}': up,
      'chain_service_active{instance="a",service="bft"}': bft,
      'chain_service_active{instance="a",service="execution"}': '1x9',
      'instance:chain_block_age:seconds{instance="a"}': age,
      'instance:chain_behind:seconds{instance="a"}': behind,
      'instance:chain_statesync:active{instance="a"}': statesync,
      'chain_agent_maintenance{instance="a",reason="upgrade"}': maintenance,
    }
    const past = Object.fromEntries(
      Object.entries(series).flatMap(([name, values]) => (values ? [[name, values]] : [])),
    )
    const told = { '{instance="a"}': expected }
    await expectFigure(state, { past }, told)
  })
})

describe('the week', () => {
  const week = { dashboard: 'duties', panel: 'Budget of the week' }
  const ofAgent = (instance: string, known: number) => ({
    [`chain_slo_known_ratio{instance="${instance}"}`]: `${known}x9`,
    [`chain_slo_objective_ratio{instance="${instance}"}`]: '0.98x9',
    [`chain_slo_budget_remaining_ratio{instance="${instance}",criterion="fresh_block"}`]: '0.25x9',
    [`chain_slo_budget_remaining_ratio{instance="${instance}",criterion="own_rounds"}`]: '0.75x9',
  })
  const past = { ...ofAgent('half', 0.4), ...ofAgent('all', 0.6) }

  test.each([
    ['has a budget if the agent knows half of it', 'A', 0.25],
    // 604,800 s × 2 % × 0.25.
    ['shows how many seconds may be spent', 'B', 3024],
  ])('%s', async (_what, target, value) => {
    await expectFigure({ ...week, target }, { past }, { '{instance="all"}': value })
  })

  test('shows by how much Prometheus differs if it has half of it', async () => {
    // Data for three days; for four days with 1 % bad.
    const days = {
      'instance:chain_available:bool{instance="three"}': '_x5760 1x4319',
      'chain_slo_uptime_ratio{instance="three",criterion="fresh_block"}': '_x10070 0.985x9',
      'instance:chain_available:bool{instance="four"}': '_x4081 0x59 1x5939',
      'chain_slo_uptime_ratio{instance="four",criterion="fresh_block"}': '_x10070 0.985x9',
    }
    const expected = { '{instance="four"}': 0.005 }
    await expectFigure({ ...week, target: 'E' }, { past: days, after: '7d' }, expected)
  })
})

/** All of them led 100 rounds in six hours; the share of the second was known for three of these hours. */
const LED = {
  past: {
    'chain_native_stake_ratio{instance="all"}': '0.05x360',
    'chain_duty_expected_slots{instance="all"}': '80x360',
    'chain_duty_slots{instance="all",result="block"}': '98x360',
    'chain_duty_slots{instance="all",result="timeout"}': '2x360',
    'chain_duty_timeout_ratio{instance="all",scope="network"}': '0.02x360',
    'chain_duty_timeout_ratio{instance="half",scope="network"}': '0.02x360',
    'chain_native_stake_ratio{instance="half"}': '_x180 0.05x180',
    'chain_duty_expected_slots{instance="half"}': '50x360',
    'chain_duty_slots{instance="half",result="block"}': '98x360',
    'chain_duty_slots{instance="half",result="timeout"}': '2x360',
  },
  after: '6h',
}

describe('rounds led', () => {
  const led = { dashboard: 'duties', panel: 'Rounds led' }
  const band = 'Blocks led, expected, and the range that chance allows'

  test('show luck only if the share was known throughout', async () => {
    await expectFigure({ ...led, target: 'D' }, LED, { '{instance="all"}': 1.25 })
  })

  test('show a band only then', async () => {
    await expectFigure({ dashboard: 'duties', panel: band }, LED, { '{}': 98 })
  })

  /** One of 19 is more than 5%, but no alert. */
  const few = {
    past: {
      'chain_duty_slots{instance="few",result="block"}': '18x9',
      'chain_duty_slots{instance="few",result="timeout"}': '1x9',
      'chain_duty_timeout_ratio{instance="few",scope="own"}': '0.0526x9',
      'chain_duty_slots{instance="enough",result="block"}': '18x9',
      'chain_duty_slots{instance="enough",result="timeout"}': '2x9',
      'chain_duty_timeout_ratio{instance="enough",scope="own"}': '0.1x9',
    },
  }
  test.each([
    ['duties', 'Rounds led', 'F'],
    ['duties', 'Timeouts of own rounds, and of the network', 'B'],
    ['fleet', 'Every node', 'J'],
    ['fleet', 'Most own rounds timed out', 'A'],
  ])('few rounds have no share: %s, %s', async (dashboard, panel, target) => {
    await expectFigure({ dashboard, panel, target }, few, { '{instance="enough"}': 0.1 })
  })
})

describe('values over all nodes', () => {
  test('a signing key is counted on all nodes, selected or not', async () => {
    const past = {
      'chain_duty_identity_active{instance="a",identity="02ab",boot="1"}': '1x9',
      'chain_duty_identity_active{instance="b",job="spare",identity="02ab",boot="2"}': '1x9',
      'chain_duty_identity_active{instance="c",identity="02cd",boot="3"}': '1x9',
    }
    const figure = { dashboard: 'duties', panel: 'Signing identities', instance: 'a' }
    await expectFigure(figure, { past }, { '{instance="a",identity="02ab"}': 2 })
  })

  const absent = {
    past: {
      'ALERTS_FOR_STATE{alertname="ChainAgentAbsent",severity="critical",component="agent"}': '60x9',
      'ALERTS{alertname="ChainAgentAbsent",alertstate="firing",severity="critical",component="agent"}': '1x9',
    },
  }
  test('an alert that names no node is in the list', async () => {
    await expectFigure({ dashboard: 'fleet', panel: 'Alerts that fire' }, absent, {
      // The onset in milliseconds.
      '{alertname="ChainAgentAbsent",severity="critical",component="agent"}': 60_000,
    })
  })

  test('an alert that names no node is not in the table of nodes', async () => {
    await expectFigure({ dashboard: 'fleet', panel: 'Every node', target: 'B' }, absent, {})
  })
})

describe('the list of alerts', () => {
  const list = { dashboard: 'node', panel: 'Alerts that fire', instance: 'a' }
  const down = 'alertname="ChainServiceDown",severity="critical",component="services"'

  test('has a row for each series, with its onset and what it is about', async () => {
    const past = Object.fromEntries(
      ['bft', 'execution'].flatMap((service, index) => [
        [`ALERTS_FOR_STATE{instance="a",${down},service="${service}"}`, `${60 * (index + 1)}x9`],
        [`ALERTS{instance="a",${down},service="${service}",alertstate="firing"}`, '1x9'],
      ]),
    )
    await expectFigure(
      list,
      { past },
      {
        [`={${down},detail="bft"}`]: 60_000,
        [`={${down},detail="execution"}`]: 120_000,
      },
    )
  })

  test('has no alert that is pending', async () => {
    const past = {
      [`ALERTS_FOR_STATE{instance="a",${down},service="bft"}`]: '60x9',
      [`ALERTS{instance="a",${down},service="bft",alertstate="pending"}`]: '1x9',
    }
    await expectFigure(list, { past }, {})
  })
})

describe('alerts that maintenance inhibits', () => {
  const alert = (component: string): string =>
    `ALERTS{instance="a",alertstate="firing",alertname="${component}",severity="critical",component="${component}"}`
  const past = {
    [alert('chain')]: '1x9',
    [alert('keys')]: '1x9',
    'chain_agent_maintenance{instance="a",reason="upgrade"}': '1x9',
  }

  test.each([
    ['are not counted, except those on keys', 'C', 1],
    ['are counted separately', 'E', 1],
  ])('%s', async (_what, target, count) => {
    const figure = { dashboard: 'fleet', panel: 'Every node', target }
    await expectFigure(figure, { past }, { '{instance="a"}': count })
  })
})

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
    await expectFigure(
      { dashboard: 'fleet', panel: 'Every node' },
      { past },
      {
        '{instance="a"}': 11,
        '{instance="b"}': 1,
        '{instance="c"}': 9,
      },
    )
  })

  test.each([
    ['With critical alerts', 1],
    ['With warnings', 1],
    ['Following', 1],
    ['Nodes', 3],
  ])('the tiles count nodes: %s', async (panel, count) => {
    await expectFigure({ dashboard: 'fleet', panel }, { past }, { '{}': count })
  })

  test('the tiles have 0 if no alert fires', async () => {
    const healthy = { 'up{instance="a"}': '1x9', 'instance:chain_block_age:seconds{instance="a"}': '1x9' }
    for (const panel of ['With critical alerts', 'With warnings'])
      await expectFigure({ dashboard: 'fleet', panel }, { past: healthy }, { '{}': 0 })
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
    await expectFigure(
      { dashboard: 'fleet', panel: 'Every node' },
      { past },
      {
        '{instance="a",cluster="north"}': 1,
        '{instance="a",cluster="south"}': 8,
      },
    )
  })

  test('are two lines of a graph that compares two metrics', async () => {
    const rounds = { dashboard: 'consensus', panel: 'Rounds by source, relative to the ledger stream', instance: 'a' }
    await expectFigure(rounds, { past }, { '{instance="a",cluster="north"}': 7, '{instance="a",cluster="south"}': 9 })
  })

  test('are one if their cluster is selected', async () => {
    const figure = { dashboard: 'fleet', panel: 'Nodes', cluster: 'south' }
    await expectFigure(figure, { past }, { '{}': 1 })
  })
})
