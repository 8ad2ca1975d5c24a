import { describe, expect, test } from 'vitest'
import { createChain } from '../../simulator/chain.ts'
import type { Entry } from '../../simulator/journal/entry.ts'
import { createNode } from '../../simulator/node.ts'
import type { SimulatedNode } from '../../simulator/subject.ts'
import { loadScenario, parseScenario, type Scenario } from '../../simulator/scenario/scenario.ts'
import { readUnits, type Unit } from '../../simulator/services/units.ts'
import { manualClock } from '../support/manual-clock.ts'

const chain = createChain(3)
const BEGIN = Date.UTC(2026, 2, 1, 12, 10)

const play = async (name: string) => simulate(await loadScenario(name))

const simulate = (scenario: Scenario) => {
  const clock = manualClock(BEGIN)
  const node = createNode({ clock, chain, prefix: 'chain', scenario })
  const at = async (seconds: number) => {
    await clock.advance(BEGIN + seconds * 1000 - clock.now())
    const now = clock.now()
    const { consensus, execution, rpc } = node.heights
    return {
      head: chain.headAt(now).seqNum,
      consensus: consensus(now),
      execution: execution(now),
      rpc: rpc(now),
      bft: unitOf(node, 'chain-bft.service'),
    }
  }
  return { node, at }
}

const unitOf = (node: SimulatedNode, id: string): Unit | undefined => readUnits(node).get(id)

const messages = (node: SimulatedNode, message: string): readonly Entry[] =>
  node.journal.read(0).filter(({ fields }) => fields['MESSAGE']?.includes(`"${message}"`))

const seqNums = (entries: readonly Entry[]): readonly string[] =>
  entries.map(({ fields }) => /"seq_num":"(\d+)"/.exec(fields['MESSAGE'] ?? '')?.[1] ?? '')

const secondsOf = ({ realtimeUs }: Entry): number => (realtimeUs / 1000 - BEGIN) / 1000

const systemd = (node: SimulatedNode, unit: string): readonly Entry[] =>
  node.journal.read(0).filter(({ fields }) => fields['UNIT'] === unit)

describe('healthy', () => {
  test('the node is at the head of the network, and every service runs', async () => {
    const { node, at } = await play('healthy')
    const { head, ...rest } = await at(600)
    expect([rest.consensus, rest.execution, rest.rpc]).toEqual([head, head, head])
    const states = [...readUnits(node)].map(([id, { ActiveState: state = '' }]) => `${id} ${state}`)
    expect(states.filter((state) => !state.endsWith(' active'))).toEqual(['chain-cruft.service inactive'])
  })

  test('ledger-tail prints every block once proposed and once final', async () => {
    const { node, at } = await play('healthy')
    const { head } = await at(300)
    const began = chain.headAt(BEGIN).seqNum
    const since = (entries: readonly Entry[]) => entries.filter((entry) => secondsOf(entry) > 0)
    const expected = Array.from({ length: Number(head - began) }, (_, index) => began + 1n + BigInt(index))
    expect(seqNums(since(messages(node, 'proposed_block')))).toEqual(expected.map(String))
    expect(seqNums(since(messages(node, 'finalized_block')))).toEqual(expected.map((n) => String(n - 2n)))
    const late = [...chain.between(BEGIN, BEGIN + 300_000)].filter(({ kind }) => kind === 'timeout')
    expect(since(messages(node, 'timeout'))).toHaveLength(late.length)
  })
})

describe('stalled', () => {
  test('heights and ledger stop at the 30th second, and every process runs', async () => {
    const { node, at } = await play('stalled')
    const height = chain.headAt(BEGIN + 30_000).seqNum
    const before = await at(29)
    expect(before.consensus).toBe(before.head)
    const after = await at(90)
    expect([after.consensus, after.execution, after.rpc]).toEqual([height, height, height])
    expect(after.head - after.rpc).toBeGreaterThan(140n)
    expect(after.bft).toMatchObject({ ActiveState: 'active' })
    expect(Math.max(...messages(node, 'proposed_block').map(secondsOf))).toBeLessThanOrEqual(30)
  })
})

describe('lagging', () => {
  test('the node is 120 blocks behind from the start, at any time', async () => {
    const { at } = await play('lagging')
    for (let second = 0; second < 60; second += 7) {
      const { head, consensus, rpc } = await at(second)
      expect([head - consensus, head - rpc]).toEqual([120n, 120n])
    }
  })

  test('its ledger prints each block when the 120th after it is seen', async () => {
    const { node, at } = await play('lagging')
    await at(60)
    for (const entry of messages(node, 'proposed_block').filter((each) => secondsOf(each) > 0)) {
      const [seqNum = ''] = seqNums([entry])
      expect(chain.headAt(Math.floor(entry.realtimeUs / 1000)).seqNum - BigInt(seqNum)).toBe(120n)
    }
  })
})

describe('service-crash', () => {
  test('from the 30th second consensus is killed by SIGABRT, and heights stop', async () => {
    const { at } = await play('service-crash')
    const { bft: before } = await at(29)
    const height = chain.headAt(BEGIN + 30_000).seqNum
    const { bft, ...heights } = await at(80)
    expect(bft).toMatchObject({ ActiveState: 'failed', SubState: 'failed', Result: 'core-dump' })
    expect(bft).toMatchObject({ ExecMainCode: '3', ExecMainStatus: '6' })
    expect(bft?.['ExecMainExitTimestamp']).toBe('Sun 2026-03-01 12:10:30 UTC')
    expect(bft?.['InvocationID']).toBe(before?.['InvocationID'])
    expect([heights.consensus, heights.execution, heights.rpc]).toEqual([height, height, height])
  })

  test('PID 1 logs the crash and the start', async () => {
    const { node, at } = await play('service-crash')
    await at(100)
    const told = systemd(node, 'chain-bft.service').map((entry) => [
      Math.round(secondsOf(entry)),
      entry.fields['MESSAGE'],
    ])
    expect(told).toEqual([
      [30, 'chain-bft.service: Main process exited, code=dumped, status=6/ABRT'],
      [30, "chain-bft.service: Failed with result 'core-dump'."],
      [90, 'Started chain-bft.service - chain bft (simulated).'],
    ])
  })
})

test('a node that idles leads no block and every timeout, until it leads again', async () => {
  const { node, at } = simulate(parseScenario('idle', '60s node idles\n240s node leads'))
  await at(400)
  const own = `"author":"${node.own.publicKey}"`
  const told = (message: string, since: number, until: number): readonly boolean[] =>
    messages(node, message)
      .filter((entry) => secondsOf(entry) > since && secondsOf(entry) <= until)
      .map(({ fields }) => fields['MESSAGE']?.includes(own) ?? false)
  expect(told('proposed_block', 60, 240)).not.toContain(true)
  expect(told('finalized_block', 62, 240)).not.toContain(true)
  expect(told('timeout', 60, 240).length).toBeGreaterThan(8)
  expect(told('timeout', 60, 240)).not.toContain(false)
  expect(told('proposed_block', 240, 400)).toContain(true)
  expect(told('timeout', 240, 400)).toContain(false)
})

test.each([
  'service-crash',
  'stalled',
  'statesync',
  'format-drift',
  'panic',
  'log-flood',
  'slow-execution',
  'reexecution',
])('the journal of %s does not depend on how often it is read', async (name) => {
  const [often, once] = [await play(name), await play(name)]
  for (let second = 0.3; second < 120; second += 1.7) {
    await often.at(second)
    often.node.journal.read(0)
  }
  await often.at(120)
  await once.at(120)
  expect(often.node.journal.read(0)).toEqual(once.node.journal.read(0))
})
