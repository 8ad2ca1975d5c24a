import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

type World = Partial<Parameters<typeof openHost>[0]>
type Row = readonly [scenario: string, second: number, summary: string, exitCode: 0 | 1, world?: World]

/** `recover` on a host without an agent: one round of collectors. test/scenarios/golden/commands has six scenarios. */
const ROWS: readonly Row[] = [
  // 10 seconds, some 27 of 800 blocks.
  ['node-down', 40, 'start the services together, now: peers still serve the blocks that the node missed.', 1],
  // 330 seconds, some 880 blocks: beyond the 800, and far from 30,000.
  [
    'node-down',
    360,
    'do a soft reset: start the services together with a new forkpoint, and let the node statesync.',
    1,
  ],
  // It is stalled since the 30th second; the limit is half an hour.
  ['statesync-frozen', 120, 'wait: statesync is under way.', 0],
  [
    'deadlock',
    180,
    'restart the services together, now: no block for 2 min, and the network still produces blocks.',
    1,
  ],
  // Consensus was restarted alone, and execution aborted.
  [
    'assertion',
    60,
    'restart consensus and execution together: consensus was restarted alone, and execution has ended.',
    1,
  ],
  // The same, and blocks arrive.
  [
    '30s bft stops\n32s bft starts',
    60,
    'restart consensus and execution together at a convenient time: consensus was restarted alone.',
    1,
  ],
  ['database-old', 60, 'migrate the database: execution does not start without the page-encoded timeline.', 1],
  // The fork is 24 hours and 30 seconds after the beginning.
  ['timeline-missing', 45, 'migrate the database before the fork aurora, which is 23 h away.', 1],
  ['upgrade-missed', 45, 'upgrade the node before the fork aurora, which is 23 h away.', 1],
  // As reported by the agent.
  ['rpc-refused', 60, 'restart the RPC alone: consensus and execution work.', 1, { agent: true }],
  ['lagging', 90, 'wait: the node is behind, and blocks arrive.', 0],
  ['healthy', 90, 'unknown: there is no node on this host, or none that this user can see.', 1, { hasNode: false }],
]

test.for(ROWS)('%s, second %i: %s', async ([scenario, second, summary, exitCode, world = {}]) => {
  const host = await openHost({ scenario, second, agent: false, ...world })
  const { code, out, err } = await host.run(['recover'])
  const line = out.split('\n').find((one) => one.startsWith('RECOVERY: '))
  expect({ line: line?.replace(/ Time left for a restart: [^.]*\.$/, ''), code, err }).toEqual({
    line: `RECOVERY: ${summary}`,
    code: exitCode,
    err: '',
  })
})

test('a command is complete on its own line, however narrow the terminal is', async () => {
  const host = await openHost({ scenario: 'node-down', second: 40, agent: false, env: { COLUMNS: '40' } })
  const lines = (await host.run(['recover'])).out.split('\n')
  expect(lines.map((line) => line.trim())).toContain('sudo systemctl start chain-bft chain-execution chain-rpc')
  const words = lines.filter((line) => /^ *(?:-|\d\.) /.test(line))
  expect(words.length).toBeGreaterThan(8)
  expect(Math.max(...words.map((line) => line.length))).toBeLessThanOrEqual(40)
  const document: unknown = JSON.parse((await host.run(['recover', '--json'])).out)
  expect(document).toMatchObject({ origin: 'node', path: 'start', runbook: 'ChainServiceDown', exitCode: 1 })
})
