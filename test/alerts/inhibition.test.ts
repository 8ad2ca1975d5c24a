import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { requireAlertmanager } from '../support/alertmanager.ts'
import { addressIn, type Labels, labelsOf, type Listeners, startListeners } from './listeners.ts'

const describe = await requireAlertmanager()

type Case = readonly [address: string, severity: string, labels?: Labels]

/** The source has fired before the others. */
type InhibitionCase = readonly [name: string, source: Case, others: readonly Case[], heard: readonly string[]]

const SYNC: Labels = { component: 'sync' }
const SERVICES: Labels = { component: 'services' }
const WAL: Labels = { component: 'host', directory: 'wal' }
const QUERY_SERVICE: readonly Case[] = [
  ['ChainQueryServiceBehind.stalled', 'warning', SERVICES],
  ['ChainQueryServiceBehind', 'warning', SERVICES],
  ['ChainQueryServiceSlow.errors', 'warning', SERVICES],
]

describe('a real Alertmanager with the committed configuration', () => {
  let listeners: Listeners
  let node = 0
  /** A separate node and separate groups for every test. */
  let instance: string
  let job: string

  beforeAll(async () => {
    listeners = await startListeners()
  })
  afterAll(async () => {
    await listeners.stop()
  })
  beforeEach(() => {
    listeners.forget()
    node += 1
    instance = `node-${node}:9843`
    job = `job-${node}-`
  })

  const on = (alertname: string, severity: string, others: Labels = {}): Labels =>
    labelsOf(alertname, severity, { instance, job, ...others })
  /** The receivers and alerts of this test. */
  const hear = async (posted: readonly Labels[]): Promise<readonly string[]> => {
    const told = (await listeners.hear(posted))
      .flatMap(({ receiver, alerts }) => alerts.map(({ labels }) => ({ receiver, labels })))
      .filter(({ labels }) => (labels['job'] ?? job).startsWith(job))
      // It is sent apart, so before or after the others.
      .filter(({ labels }) => labels['alertname'] !== 'ChainMaintenance')
      .map(({ receiver, labels }) =>
        [receiver, addressIn({ labels }), labels['directory'], labels['instance'] ?? 'nowhere']
          .filter((word) => word !== undefined)
          .join(' '),
      )
    return [...new Set(told)].toSorted()
  }

  /** The messages of this test, by their groups. */
  const messagesOf = async (...posted: readonly Labels[]) =>
    (await listeners.hear(posted)).filter(({ groupLabels }) => groupLabels['job'] === job)

  it('groups the same alert of two nodes in one message', async () => {
    const other = `other-${instance}`
    const about = await messagesOf(
      on('ChainBehind', 'warning', { component: 'sync' }),
      on('ChainBehind', 'warning', { component: 'sync', instance: other }),
    )
    expect(about.map(({ alerts }) => alerts.map(({ labels }) => labels['instance']))).toEqual([[instance, other]])
    expect(about[0]?.groupLabels).toEqual({ alertname: 'ChainBehind', job })
  })

  it('sends one page for a stalled node, which the alerts that follow update', async () => {
    const stalled = on('ChainBlockStalled', 'critical')
    // The order in which they fire: ten seconds, thirty, a minute, two minutes, three.
    const later = [
      on('ChainBehind', 'warning', { component: 'sync' }),
      on('ChainBlocksyncWindow', 'warning', { component: 'sync' }),
      on('ChainBehind', 'critical', { component: 'sync' }),
      on('ChainUptimeBudget.fast', 'warning'),
      on('ChainQueryServiceBehind.stalled', 'warning', { component: 'services' }),
    ]
    expect(await hear([stalled])).toEqual([`pager ChainBlockStalled ${instance}`])
    expect(await hear(later)).toEqual([`pager ChainBlockStalled ${instance}`])
    const pages = await messagesOf(
      on('ChainBlocksyncWindow', 'critical', { component: 'sync' }),
      on('ChainBlockStalled.deadlock', 'critical'),
    )
    for (const { groupLabels } of pages) expect(groupLabels).toEqual({ instance, job })
    const last = pages.at(-1)?.alerts.map(addressIn).toSorted()
    expect(last).toEqual(['ChainBlockStalled.deadlock', 'ChainBlocksyncWindow'])
  })

  it('sends one page for a network that is stalled, and that of a node of another cluster', async () => {
    const cluster = { cluster: 'mainnet' }
    const [other, elsewhere] = [`other-${instance}`, `elsewhere-${instance}`]
    const halted = labelsOf('ChainNetworkHalted', 'critical', { instance: '', job, ...cluster })
    await listeners.post(halted)
    expect(
      await hear([
        halted,
        ...[instance, other].flatMap((one) => [
          on('ChainBlockStalled', 'critical', { ...cluster, instance: one }),
          on('ChainBlockStalled', 'warning', { ...cluster, instance: one }),
          on('ChainBlockStalled.deadlock', 'critical', { ...cluster, instance: one }),
          on('ChainFinalityStalled', 'critical', { ...cluster, instance: one }),
        ]),
        on('ChainBlockStalled', 'critical', { cluster: 'testnet', instance: elsewhere }),
        on('ChainBlockStalled', 'critical', { ...cluster, job: `${job}other`, instance: elsewhere }),
        on('ChainDiskFull', 'critical', { ...cluster, component: 'host', directory: 'wal' }),
      ]),
    ).toEqual([
      `pager ChainBlockStalled ${elsewhere}`,
      `pager ChainDiskFull wal ${instance}`,
      'pager ChainNetworkHalted nowhere',
    ])
  })

  it('sends a page for the second node although the first has one for the same alert', async () => {
    const other = `other-${instance}`
    const pages = await messagesOf(
      on('ChainBlockStalled', 'critical'),
      on('ChainBlockStalled', 'critical', { instance: other }),
    )
    expect(pages.map(({ groupLabels }) => groupLabels['instance'] ?? '').toSorted()).toEqual(
      [instance, other].toSorted(),
    )
  })

  it('sends what a watcher and Prometheus see of a node as one page, and what the watcher only repeats not at all', async () => {
    const down = on('ChainAgentDown', 'critical', { component: 'agent' })
    const watcher = { component: 'services', node: instance, watcher: 'w' }
    await listeners.post(down)
    const pages = await messagesOf(
      down,
      on('ChainWatchedNodeSilent.nothing', 'critical', watcher),
      on('ChainWatchedNodeSilent.port', 'warning', watcher),
    )
    for (const { groupLabels } of pages) expect(groupLabels).toEqual({ instance, job })
    expect(pages.at(-1)?.alerts.map(addressIn).toSorted()).toEqual(['ChainAgentDown', 'ChainWatchedNodeSilent.nothing'])
  })

  it.each(['consensus', 'agent'])('a watcher repeats that the node is critical: a page about %s', async (component) => {
    const own = on(component === 'agent' ? 'ChainAgentFailing' : 'ChainBlockStalled', 'critical', { component })
    await listeners.post(own)
    const repeated = on('ChainWatchedNode.critical', 'warning', { component: 'services', watcher: 'w' })
    expect((await hear([own, repeated])).includes(`chat ChainWatchedNode.critical ${instance}`)).toBe(
      component === 'agent',
    )
  })

  it('inhibits all alerts of a node without its agent except security, and none of other nodes', async () => {
    const other = `other-${instance}`
    const source = on('ChainAgentDown', 'critical', { component: 'agent' })
    await listeners.post(source)
    expect(
      await hear([
        source,
        on('ChainBlockStalled', 'critical'),
        on('ChainHeat.drive', 'warning', { component: 'host' }),
        on('ChainQueryServiceDown.stopped', 'warning', { component: 'services' }),
        on('ChainPortExposed', 'warning', { component: 'security', port: '8080' }),
        on('ChainBlockStalled', 'critical', { instance: other }),
        on('ChainServiceDown.push', 'warning', { job: `${job}other`, component: 'services' }),
      ]),
    ).toEqual([
      `chat ChainPortExposed ${instance}`,
      `chat ChainQueryServiceDown.stopped ${instance}`,
      `chat ChainServiceDown.push ${instance}`,
      `pager ChainAgentDown ${instance}`,
      `pager ChainBlockStalled ${other}`,
    ])
  })

  it('sends only key and security alerts during maintenance, and one if it lasts too long', async () => {
    await listeners.post(on('ChainMaintenance', 'none', { component: 'agent', reason: 'upgrade' }))
    expect(
      await hear([
        on('ChainCollectorDown', 'warning', { component: 'agent', collector: 'rpc' }),
        on('ChainServiceDown', 'critical', { component: 'services', service: 'bft' }),
        on('ChainKeyFile.missing', 'warning', { component: 'keys', kind: 'keystore' }),
        on('ChainIdentityTwice', 'critical', { component: 'security' }),
        on('ChainMaintenanceLong', 'warning', { component: 'agent' }),
        on('ChainReport', 'info', { component: 'agent', digest: 'true' }),
      ]),
    ).toEqual([
      `chat ChainKeyFile.missing ${instance}`,
      `chat ChainMaintenanceLong ${instance}`,
      `digest ChainReport ${instance}`,
      `pager ChainIdentityTwice ${instance}`,
    ])
  })

  it('does not send that the agent is down during maintenance: the host may be rebooted', async () => {
    await listeners.post(on('ChainMaintenance', 'none', { component: 'agent', reason: 'hardware' }))
    expect(await hear([on('ChainAgentDown', 'critical', { component: 'agent' })])).toEqual([])
  })

  it.for<InhibitionCase>([
    [
      'does not inhibit a critical alert by a warning whose critical level would explain it',
      ['ChainBlockStalled', 'warning'],
      [['ChainBehind', 'critical', SYNC]],
      ['chat ChainBlockStalled', 'pager ChainBehind'],
    ],
    [
      'inhibits by one reading that is unknown, and not by another',
      ['ChainRpcDown', 'critical', SYNC],
      [
        ['ChainBlind.block', 'warning'],
        ['ChainBlind.storage', 'warning', { component: 'storage' }],
      ],
      ['chat ChainBlind.storage', 'pager ChainRpcDown'],
    ],
    [
      'inhibits consequences of consensus being down',
      ['ChainServiceDown', 'critical', { ...SERVICES, service: 'bft' }],
      [
        ['ChainBlockStalled', 'critical'],
        ['ChainBehind', 'warning', SYNC],
        ['ChainRpcDown', 'critical', SYNC],
        ['ChainDiskFull', 'critical', WAL],
      ],
      ['pager ChainDiskFull wal', 'pager ChainServiceDown'],
    ],
    [
      'sends that the chain is stalled if only the RPC is down',
      ['ChainServiceDown', 'critical', { ...SERVICES, service: 'rpc' }],
      [
        ['ChainBlockStalled', 'critical'],
        ['ChainRpcDown', 'critical', SYNC],
      ],
      ['pager ChainBlockStalled', 'pager ChainServiceDown'],
    ],
    [
      'does not send RPC alerts during statesync',
      ['ChainStatesync', 'info', SYNC],
      [['ChainRpcDown', 'critical', SYNC]],
      ['info ChainStatesync'],
    ],
    [
      'sends the higher severity of one subject, and the lower one of another',
      ['ChainOfTwoLevels', 'critical', WAL],
      [
        ['ChainOfTwoLevels', 'warning', WAL],
        ['ChainOfTwoLevels', 'warning', { component: 'host', directory: 'ledger' }],
        ['ChainClockDrift', 'warning', WAL],
      ],
      ['chat ChainClockDrift wal', 'chat ChainOfTwoLevels ledger', 'pager ChainOfTwoLevels wal'],
    ],
    [
      'does not send that the query service waits for a node that is behind, but its other alerts',
      ['ChainBehind', 'warning', SYNC],
      QUERY_SERVICE,
      ['chat ChainBehind', 'chat ChainQueryServiceSlow.errors'],
    ],
    [
      'sends one alert for a stopped query service, not that it is stalled, behind and rejecting as well',
      ['ChainQueryServiceDown.stopped', 'warning', { phase: 'stopped' }],
      QUERY_SERVICE,
      ['chat ChainQueryServiceDown.stopped'],
    ],
    [
      'sends one alert for an incomplete block, not that the service is stalled, behind and failing as well',
      ['ChainQueryServiceDown.incomplete', 'warning', { phase: 'incomplete' }],
      [
        ['ChainQueryServiceBehind.stalled', 'warning'],
        ['ChainQueryServiceBehind', 'warning'],
        ['ChainQueryServiceBehind.ingest-failing', 'warning'],
      ],
      ['chat ChainQueryServiceDown.incomplete'],
    ],
  ])('%s', async ([, source, others, heard]) => {
    await listeners.post(on(...source))
    const told = await hear([source, ...others].map((one) => on(...one)))
    expect(told).toEqual(heard.map((one) => `${one} ${instance}`))
  })

  it('does not inhibit an alert without an instance by another without one', async () => {
    const without = { job, instance: '', component: 'agent' }
    const source = labelsOf('ChainOfAll', 'critical', without)
    await listeners.post(source)
    expect(await hear([source, labelsOf('ChainOfAll', 'warning', without)])).toEqual([
      'chat ChainOfAll nowhere',
      'pager ChainOfAll nowhere',
    ])
  })

  it("keeps sending the dead man's switch, also during maintenance", async () => {
    await listeners.post(on('ChainMaintenance', 'none', { component: 'agent', reason: 'other' }))
    expect(await hear([{ alertname: 'ChainWatchdog', severity: 'none', component: 'agent' }])).toEqual([
      'dead-man ChainWatchdog nowhere',
    ])
  })
})

describe('the same Alertmanager at night', () => {
  let listeners: Listeners

  beforeAll(async () => {
    listeners = await startListeners(true)
  })
  afterAll(async () => {
    await listeners.stop()
  })

  it('sends pages and warnings about keys, security and the monitoring, and keeps the other warnings', async () => {
    // Posted first: the alerts below have the same wait, so that it would be heard before them.
    await listeners.post(labelsOf('ChainDriveFailing.worn', 'warning', { component: 'host' }))
    const messages = await listeners.hear([
      labelsOf('ChainKeyFile.exposed', 'warning', { component: 'security' }),
      labelsOf('ChainKeyFile.missing', 'warning', { component: 'keys' }),
      labelsOf('ChainMonitoringFailing', 'warning', { component: 'agent' }),
      labelsOf('ChainBlockStalled', 'critical'),
    ])
    const expected = ['ChainBlockStalled', 'ChainKeyFile.exposed', 'ChainKeyFile.missing', 'ChainMonitoringFailing']
    expect(new Set(messages.flatMap(({ alerts }) => alerts.map(addressIn)))).toEqual(new Set(expected))
  })
})
