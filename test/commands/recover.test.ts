import { describe, expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

interface Row {
  readonly name: string
  readonly scenario: string
  readonly second: number
  /** Whether an agent runs; otherwise there is one round of collectors. */
  readonly agent?: true
  readonly hasNode?: false
  readonly summary: string
  readonly exitCode: 0 | 1
}

/** test/scenarios/golden/commands has those of healthy, isolated, panic, stalled, statesync and storage-full. */
const ROWS: readonly Row[] = [
  {
    // 10 seconds, some 27 of 800 blocks.
    name: 'down for ten seconds',
    scenario: 'node-down',
    second: 40,
    summary: 'start the services together, now: peers still serve the blocks that the node missed.',
    exitCode: 1,
  },
  {
    // 330 seconds, some 880 blocks: beyond the 800, and far from 30,000.
    name: 'down until the window has passed',
    scenario: 'node-down',
    second: 360,
    summary: 'do a soft reset: start the services together with a new forkpoint, and let the node statesync.',
    exitCode: 1,
  },
  {
    // It is stalled since the 30th second; the limit is half an hour.
    name: 'statesync that is stalled for a minute',
    scenario: 'statesync-frozen',
    second: 120,
    summary: 'wait: statesync is under way.',
    exitCode: 0,
  },
  {
    name: 'deadlock',
    scenario: 'deadlock',
    second: 180,
    summary: 'restart the services together, now: no block for 2 min, and the network still produces blocks.',
    exitCode: 1,
  },
  {
    name: 'consensus was restarted alone, and execution aborted',
    scenario: 'assertion',
    second: 60,
    summary: 'restart consensus and execution together: consensus was restarted alone, and execution has ended.',
    exitCode: 1,
  },
  {
    name: 'consensus was restarted alone, and blocks arrive',
    scenario: '30s bft stops\n32s bft starts',
    second: 60,
    summary: 'restart consensus and execution together at a convenient time: consensus was restarted alone.',
    exitCode: 1,
  },
  {
    name: 'database-old',
    scenario: 'database-old',
    second: 60,
    summary: 'migrate the database: execution does not start without the page-encoded timeline.',
    exitCode: 1,
  },
  {
    // The fork is 24 hours and 30 seconds after the beginning.
    name: 'timeline-missing',
    scenario: 'timeline-missing',
    second: 45,
    summary: 'migrate the database before the fork aurora, which is 23 h away.',
    exitCode: 1,
  },
  {
    name: 'upgrade-missed',
    scenario: 'upgrade-missed',
    second: 45,
    summary: 'upgrade the node before the fork aurora, which is 23 h away.',
    exitCode: 1,
  },
  {
    name: 'rpc-refused, as reported by the agent',
    scenario: 'rpc-refused',
    second: 60,
    agent: true,
    summary: 'restart the RPC alone: consensus and execution work.',
    exitCode: 1,
  },
  {
    name: 'lagging',
    scenario: 'lagging',
    second: 90,
    summary: 'wait: the node is behind, and blocks arrive.',
    exitCode: 0,
  },
  {
    name: 'no node',
    scenario: 'healthy',
    second: 90,
    hasNode: false,
    summary: 'unknown: there is no node on this host, or none that this user can see.',
    exitCode: 1,
  },
]

test.each(ROWS)('$name', async ({ summary, exitCode, agent = false, ...world }) => {
  const host = await openHost({ ...world, agent })
  const { code, out, err } = await host.run(['recover'])
  const line = out.split('\n').find((one) => one.startsWith('RECOVERY: '))
  expect({ line: line?.replace(/ Time left for a restart: [^.]*\.$/, ''), code, err }).toEqual({
    line: `RECOVERY: ${summary}`,
    code: exitCode,
    err: '',
  })
})

describe('the output', () => {
  test('has evidence, steps and what not to do; a command is complete on its own line', async () => {
    const host = await openHost({
      scenario: 'node-down',
      second: 40,
      agent: false,
      env: { COLUMNS: '40' },
    })
    const { out } = await host.run(['recover'])
    const lines = out.split('\n')
    const command = 'sudo systemctl start chain-bft chain-execution chain-rpc'
    expect(lines.map((line) => line.trim())).toContain(command)
    const words = lines.filter((line) => /^ *(?:-|\d\.) /.test(line))
    expect(words.length).toBeGreaterThan(8)
    expect(Math.max(...words.map((line) => line.length))).toBeLessThanOrEqual(40)
    expect(out).toMatch(/^Why$/m)
    expect(out).toMatch(/^What to do\n {2}1\. /m)
    expect(out).toMatch(/^What not to do$/m)
    expect(out.replaceAll(/\s+/g, ' ')).toMatch(
      /The node is \d+ blocks behind, by the height that the references agree on\./,
    )
    expect(out).toMatch(/^More: chain-agent runbook ChainServiceDown$/m)
    expect(out).not.toMatch(/[^\n -~]/)
  })

  test('is available as JSON', async () => {
    const host = await openHost({ scenario: 'node-down', second: 40, agent: false })
    const { out, code } = await host.run(['recover', '--json'])
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      origin: 'node',
      path: 'start',
      summary: 'start the services together, now: peers still serve the blocks that the node missed',
      runbook: 'ChainServiceDown',
      exitCode: 1,
    })
  })

  test('a surplus argument is a usage error', async () => {
    const host = await openHost({ scenario: 'healthy', second: 1, agent: false })
    expect((await host.run(['recover', 'now'])).code).toBe(2)
  })
})
