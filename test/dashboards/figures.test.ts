import { expect, test } from 'vitest'
import { requirePrometheus } from '../support/prometheus.ts'
import { amiss, type Past } from './figures.ts'

const describe = await requirePrometheus()

describe('the state of a node', () => {
  const state = { dashboard: 'fleet', panel: 'Every node' }
  test.each<readonly [what: string, past: Past['past'], state: number]>([
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
    expect(await amiss(state, { past, after: '5m' }, told)).toBe('')
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
    expect(await amiss({ ...week, target }, { past, after: '5m' }, { '{instance="all"}': value })).toBe('')
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
    expect(await amiss({ ...week, target: 'E' }, { past: days, after: '7d' }, expected)).toBe('')
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
    expect(await amiss({ ...led, target: 'D' }, LED, { '{instance="all"}': 1.25 })).toBe('')
  })

  test('show a band only then', async () => {
    expect(await amiss({ dashboard: 'duties', panel: band }, LED, { '{}': 98 })).toBe('')
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
    after: '5m',
  }
  test.each([
    ['duties', 'Rounds led', 'F'],
    ['duties', 'Timeouts of own rounds, and of the network', 'B'],
    ['fleet', 'Every node', 'J'],
    ['fleet', 'Most own rounds timed out', 'A'],
  ])('few rounds have no share: %s, %s', async (dashboard, panel, target) => {
    expect(await amiss({ dashboard, panel, target }, few, { '{instance="enough"}': 0.1 })).toBe('')
  })
})

describe('values over all nodes', () => {
  test('a signing key is counted on all nodes, selected or not', async () => {
    expect(
      await amiss(
        { dashboard: 'duties', panel: 'Signing identities', instance: 'a' },
        {
          past: {
            'chain_duty_identity_active{instance="a",identity="02ab",boot="1"}': '1x9',
            'chain_duty_identity_active{instance="b",job="spare",identity="02ab",boot="2"}': '1x9',
            'chain_duty_identity_active{instance="c",identity="02cd",boot="3"}': '1x9',
          },
          after: '5m',
        },
        { '{instance="a",identity="02ab"}': 2 },
      ),
    ).toBe('')
  })

  const absent = {
    past: {
      'ALERTS_FOR_STATE{alertname="ChainAgentAbsent",severity="critical",component="agent"}': '60x9',
      'ALERTS{alertname="ChainAgentAbsent",alertstate="firing",severity="critical",component="agent"}': '1x9',
    },
    after: '5m',
  }
  test('an alert that names no node is in the list', async () => {
    expect(
      await amiss({ dashboard: 'fleet', panel: 'Alerts that fire' }, absent, {
        // The onset in milliseconds.
        '{alertname="ChainAgentAbsent",severity="critical",component="agent"}': 60_000,
      }),
    ).toBe('')
  })

  test('an alert that names no node is not in the table of nodes', async () => {
    expect(await amiss({ dashboard: 'fleet', panel: 'Every node', target: 'B' }, absent, {})).toBe('')
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
    expect(
      await amiss(
        list,
        { past, after: '5m' },
        {
          [`={${down},detail="bft"}`]: 60_000,
          [`={${down},detail="execution"}`]: 120_000,
        },
      ),
    ).toBe('')
  })

  test('has no alert that is pending', async () => {
    const past = {
      [`ALERTS_FOR_STATE{instance="a",${down},service="bft"}`]: '60x9',
      [`ALERTS{instance="a",${down},service="bft",alertstate="pending"}`]: '1x9',
    }
    expect(await amiss(list, { past, after: '5m' }, {})).toBe('')
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
    expect(await amiss(figure, { past, after: '5m' }, { '{instance="a"}': count })).toBe('')
  })
})
