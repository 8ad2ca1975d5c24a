import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { parseScenario } from '../simulator/scenario/scenario.ts'
import { type Alerting, type Notice, startAlerting } from './alerting.ts'
import { FAULTS, FAULT_S } from './faults.ts'
import { runFault, type Row, waitFor } from './run-fault.ts'
import { startNode } from './simulated-node.ts'

const CONCURRENCY = 3

const show = ({ fault, alert, fired, resolved }: Row): string =>
  `| ${fault} | ${alert} | ${fired?.toFixed(1) ?? 'never'} | ${resolved?.toFixed(1) ?? 'never'} |`

test('each critical alert, from the fault to the webhook and back', async () => {
  const asked = process.env['FAULT']?.split(',')
  const queue = FAULTS.filter(({ fault }) => asked === undefined || asked.includes(fault))
  const rows: Row[] = []
  const work = async (): Promise<void> => {
    for (let next = queue.shift(); next; next = queue.shift()) {
      const row = await runFault(next)
      rows.push(row)
      console.log(show(row))
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, work))
  console.log(
    ['| fault | alert | s to webhook | s to resolved |', '|---|---|---|---|', ...rows.map(show).toSorted()].join('\n'),
  )
  expect(rows.filter(({ fired }) => fired === undefined).map(({ fault }) => fault)).toEqual([])
  expect(rows.filter(({ resolved }) => resolved === undefined).map(({ fault }) => fault)).toEqual([])
})

/** The pages, by alert; the dead man's switch is not a page. */
const pages = (alerting: Alerting): readonly Notice[] =>
  alerting.notices().filter(({ status, severity }) => status === 'firing' && severity === 'critical')

test('the agent is killed: only ChainAgentDown pages', async () => {
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

test("the host's services are killed: a single page", async () => {
  const lines = ['bft', 'execution', 'rpc', 'ledger-tail'].map((service) => `${FAULT_S}s ${service} crashes SIGKILL`)
  const node = await startNode(parseScenario('services', lines.join('\n')))
  const alerting = await startAlerting([`127.0.0.1:${node.agent.port}`])
  await waitFor(alerting, ({ alert }) => alert.startsWith('ChainServiceDown'))
  await delay(60_000)
  const told = pages(alerting)
  await alerting.close()
  await node.close()
  console.log(told.map(({ alert, group }) => `${alert} ${group}`).join('\n'))
  expect(new Set(told.map(({ group }) => group)).size).toBe(1)
})

test('no agent is scraped: ChainAgentAbsent fires and resolves', async () => {
  const node = await startNode(parseScenario('healthy', ''))
  const alerting = await startAlerting([`127.0.0.1:${node.agent.port}`])
  const is = (status: Notice['status']) => (notice: Notice) =>
    notice.alert === 'ChainAgentAbsent' && notice.status === status
  await delay(15_000)
  expect(pages(alerting)).toEqual([])
  await alerting.scrape([])
  expect(await waitFor(alerting, is('firing'))).toBeDefined()
  await alerting.scrape([`127.0.0.1:${node.agent.port}`])
  expect(await waitFor(alerting, is('resolved'))).toBeDefined()
  await alerting.close()
  await node.close()
})

test('one identity validates on two nodes: the alert has both instances', async () => {
  const nodes = await Promise.all([1, 2].map(async () => startNode(parseScenario('healthy', ''))))
  const addresses = nodes.map(({ agent }) => `127.0.0.1:${agent.port}`)
  const alerting = await startAlerting(addresses)
  const named = () =>
    pages(alerting)
      .filter(({ alert }) => alert === 'ChainIdentityTwice')
      .map(({ instance }) => instance)
  await waitFor(alerting, () => new Set(named()).size === 2)
  expect([...new Set(named())].toSorted()).toEqual(addresses.toSorted())
  await nodes[1]?.close()
  const end = (notice: Notice) => notice.alert === 'ChainIdentityTwice' && notice.status === 'resolved'
  expect(await waitFor(alerting, end)).toBeDefined()
  await alerting.close()
  await nodes[0]?.close()
})
