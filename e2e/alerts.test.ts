import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseScenario } from '../src/simulator/scenario/scenario.ts'
import { type Alerting, type Notice, startAlerting } from './alerting.ts'
import { FAULTS, FAULT_S } from './faults.ts'
import { rehearseFault, type Row, waitFor } from './rehearse-fault.ts'
import { startNode } from './rehearsed-node.ts'

const AT_ONCE = 3

const show = ({ fault, alert, fired, resolved }: Row): string =>
  `| ${fault} | ${alert} | ${fired?.toFixed(1) ?? 'never'} | ${resolved?.toFixed(1) ?? 'never'} |`

test('each critical alert, from the fault to the webhook and back', async () => {
  const asked = process.env['FAULT']?.split(',')
  const queue = FAULTS.filter(({ fault }) => asked === undefined || asked.includes(fault))
  const rows: Row[] = []
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const row = await rehearseFault(next)
      rows.push(row)
      console.log(show(row))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  console.log(
    [
      '| fault | alert | s to webhook | s to resolved |',
      '|---|---|---|---|',
      ...rows.map(show).toSorted(),
    ].join('\n'),
  )
  expect(rows.filter(({ fired }) => fired === undefined).map(({ fault }) => fault)).toEqual([])
  expect(rows.filter(({ resolved }) => resolved === undefined).map(({ fault }) => fault)).toEqual(
    [],
  )
})

/** What the pager was told, by alert; the dead-man switch is no page. */
const pages = (alerting: Alerting): readonly Notice[] =>
  alerting
    .notices()
    .filter(({ status, severity }) => status === 'firing' && severity === 'critical')

test('the agent is killed: it alone pages', async () => {
  const node = await startNode(parseScenario('healthy', ''))
  const alerting = await startAlerting([`127.0.0.1:${node.agent.port}`])
  await delay(25_000)
  expect(pages(alerting)).toEqual([])
  await node.agent.stop('SIGKILL')
  await waitFor(alerting, ({ alert }) => alert === 'ChainAgentDown')
  await delay(60_000)
  const told = new Set(pages(alerting).map(({ alert }) => alert))
  await alerting.close()
  await node.close()
  expect([...told]).toEqual(['ChainAgentDown'])
})

test("the host's services are killed: one page, and not ten", async () => {
  const lines = ['bft', 'execution', 'rpc', 'ledger-tail'].map(
    (service) => `${FAULT_S}s ${service} crashes SIGKILL`,
  )
  const node = await startNode(parseScenario('services', lines.join('\n')))
  const alerting = await startAlerting([`127.0.0.1:${node.agent.port}`])
  await waitFor(alerting, ({ alert }) => alert === 'ChainServiceDown')
  await delay(60_000)
  const told = pages(alerting)
  await alerting.close()
  await node.close()
  console.log(told.map(({ alert, group }) => `${alert} ${group}`).join('\n'))
  expect(new Set(told.map(({ group }) => group)).size).toBe(1)
})
