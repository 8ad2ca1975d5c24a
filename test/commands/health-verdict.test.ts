import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

type World = Parameters<typeof openHost>[0]
type Row = readonly [name: string, summary: string, exitCode: 0 | 1 | 2, world: World]

/** The exact first line of `check` and `status`, the exit code of `check`, the scenario and the second of the run. */
const ROWS: readonly Row[] = [
  ['healthy', 'OK: the node keeps up with the chain.', 0, { scenario: 'healthy', second: 90 }],
  ['stalled', 'CRITICAL: the newest block of the node is too old.', 2, { scenario: 'stalled', second: 150 }],
  ['lagging', 'CRITICAL: the newest block of the node is too old.', 2, { scenario: 'lagging', second: 90 }],
  ['statesync', 'WARNING: the node is in statesync.', 1, { scenario: 'statesync', second: 90 }],
  ['service-crash', 'CRITICAL: bft is down (failed).', 2, { scenario: 'service-crash', second: 60 }],
  // From 76% at the 30th second to 96% at the 330th.
  [
    'storage-filling',
    'CRITICAL: the database has too few free chunks.',
    2,
    { scenario: 'storage-filling', second: 340 },
  ],
  // The fork is 24 h and 30 s after the start.
  [
    'fork-unready',
    'WARNING: the node is not ready for the fork aurora: version.',
    1,
    { scenario: 'upgrade-missed', second: 90, agent: false },
  ],
  [
    'maintenance',
    'MAINTENANCE: upgrade, 30 min left; bft and execution are down.',
    0,
    { scenario: '10s bft stops\n10s execution stops', second: 60, maintenance: { minutes: 30 } },
  ],
  ['no agent', 'OK: the node keeps up with the chain.', 1, { scenario: 'healthy', second: 90, agent: false }],
  [
    'no node',
    'UNKNOWN: there is no node on this host, or none that this user can see.',
    2,
    { scenario: 'healthy', second: 90, agent: false, hasNode: false },
  ],
  [
    'no permission',
    'WARNING: no readings from the collector lifecycle, ledger, consensus, execution and logs.',
    1,
    { scenario: '0s journal forbids', second: 90 },
  ],
]

test.for(ROWS)('%s: the health verdict is first', async ([, summary, exitCode, world]) => {
  const host = await openHost(world)
  // Status first: it takes no time, while check runs two rounds. It reports the health verdict of the agent.
  for (const command of world.agent === false ? ['check'] : ['status', 'check']) {
    const { code, out } = await host.run([command])
    expect({ first: out.split('\n')[0], code }).toEqual({ first: summary, code: command === 'check' ? exitCode : 0 })
  }
})

test('docs/explanation/health.md lists all of them', () => {
  const page = readFileSync(new URL('../../docs/explanation/health.md', import.meta.url), 'utf8')
  for (const [, summary, exitCode] of ROWS) {
    const rows = page.split('\n').filter((line) => line.includes(`\`${summary}\``))
    expect(rows.join('\n'), summary).toMatch(new RegExp(`\\| ${exitCode} +\\|$`, 'm'))
  }
})
