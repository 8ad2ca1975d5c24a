import { beforeAll, beforeEach, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { add, type LedgerTotals, ledgerTotals, ledgerTruth, replayedAt } from '../support/ledger.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const KILLS = 5
const BLOCKS_PER_KILL = 100

describe.each([
  ['chain', 'monad'],
  ['monad', 'chain'],
])('the ledger stream of a node named %s', (prefix, other) => {
  let node: SandboxedNode
  let block = 0
  let replayed = 0
  /** Where the test at hand began. */
  let began = { block: 0, totals: ledgerTruth(0) }

  const counted = async (): Promise<LedgerTotals> => add(ledgerTotals(await node.look()), began.totals, -1)
  const truth = (): LedgerTotals => add(ledgerTruth(block, replayed), ledgerTruth(began.block), -1)

  /** Lets the stream run on, and waits until every block up to its end is counted: no more, no less. */
  const expectCounted = async (further: number): Promise<void> => {
    block += further
    await node.ledger.goTo(block)
    await eventually(counted, ({ finalized }) => finalized >= truth().finalized)
    expect(await counted()).toEqual(truth())
  }
  /** What the stream says while no agent listens. */
  const runUnheard = async (further: number): Promise<void> => {
    block += further
    await node.ledger.runTo(block)
  }
  const endAgent = async (...how: readonly string[]): Promise<void> => {
    await node.systemctl(...how, 'chain-agent.service')
  }

  beforeAll(async () => {
    node = await createNode(prefix)
    await node.startAgent()
    await node.systemctl('start', node.unit('ledger-tail'))
    return node.down
  })
  beforeEach(async () => {
    began = { block, totals: ledgerTotals(await node.look()) }
    replayed = 0
  })

  it('is counted', async () => {
    await expectCounted(60)
    const { value } = await node.look()
    expect(value('chain_ledger_seq_num', { event: 'proposed' })).toBe(60)
    expect(value('chain_ledger_round', { event: 'proposed' })).toBe(66)
    expect(value('chain_agent_lines_total', { format: 'ledger-tail', result: 'unparsed' })).toBe(0)
  })

  it('no tool is asked for anything of another name', async () => {
    const calls = await node.calls()
    expect(calls.filter((call) => call.includes(`${prefix}-`))).not.toEqual([])
    expect(calls.filter((call) => new RegExp(`\\b${other}-`).test(call))).toEqual([])
  })

  it('is counted once though the program prints old blocks again when it starts', async () => {
    await node.systemctl('restart', node.unit('ledger-tail'))
    replayed = replayedAt(block)
    await expectCounted(60)
  })

  it.each([['stop'], ['kill', '--signal=KILL']])(
    'loses and doubles nothing when the agent ends: %s',
    async (...how) => {
      await endAgent(...how)
      await runUnheard(40)
      await node.startAgent()
      await expectCounted(20)
    },
  )

  it('is counted exactly however often the agent is killed while it runs', async () => {
    const dropIn = 'chain-agent.service.d/restart.conf'
    await node.writeUnit(dropIn, '[Unit]\nStartLimitIntervalSec=0\n[Service]\nRestart=always\nRestartSec=0\n')
    await node.ledger.goTo(block + KILLS * BLOCKS_PER_KILL)
    for (let kill = 0; kill < KILLS; kill += 1) {
      // A start takes about a second, which is 50 blocks.
      await node.ledger.reached(block + Math.floor((kill + Math.random()) * BLOCKS_PER_KILL))
      await node.systemctl('kill', '--signal=KILL', 'chain-agent.service')
    }
    await expectCounted(KILLS * BLOCKS_PER_KILL)
    await node.writeUnit(dropIn, '')
  })

  it('loses and doubles nothing when the journal is rotated', async () => {
    await node.ledger.goTo(block + 100)
    await node.ledger.reached(block + 30)
    for (const later of [50, 70]) {
      await node.exec('journalctl', ['--rotate'])
      await node.ledger.reached(block + later)
    }
    await expectCounted(100)
    expect((await node.look()).value('chain_agent_journal_gaps_total', { service: 'ledger-tail' })).toBe(0)
  })

  it('loses and doubles nothing when the machine is rebooted', async () => {
    await endAgent('stop')
    await runUnheard(20)
    await node.reboot()
    replayed = replayedAt(block)
    await node.systemctl('start', node.unit('ledger-tail'))
    await runUnheard(20)
    await node.startAgent()
    await expectCounted(20)
  })

  it('leaves the collector up while it is merely silent', async () => {
    const { value } = await node.look()
    const lastSuccess = value('chain_agent_collector_last_success_timestamp_seconds', { collector: 'ledger' })
    const restarts = { service: 'ledger-tail' }
    // Long enough for the follower to be looked at twice.
    const later = await eventually(
      node.look,
      (seen) =>
        (seen.value('chain_agent_collector_last_success_timestamp_seconds', { collector: 'ledger' }) ?? 0) >
        (lastSuccess ?? Infinity) + 8,
    )
    expect(later.value('chain_agent_collector_up', { collector: 'ledger' })).toBe(1)
    expect(later.value('chain_agent_journal_restarts_total', restarts)).toBe(
      value('chain_agent_journal_restarts_total', restarts),
    )
  })

  it('keeps what is known of it when its program is gone', async () => {
    const { value } = await node.look()
    const before = ledgerTotals(await node.look())
    await node.systemctl('stop', node.unit('ledger-tail'))
    const service = { service: 'ledger-tail' }
    const gone = await eventually(node.look, (seen) => seen.value('chain_service_active', service) === 0)
    expect(ledgerTotals(gone)).toEqual(before)
    expect(gone.value('chain_ledger_seq_num', { event: 'proposed' })).toBe(
      value('chain_ledger_seq_num', { event: 'proposed' }),
    )
    expect(gone.value('chain_agent_collector_up', { collector: 'ledger' })).toBe(1)
    await node.systemctl('start', node.unit('ledger-tail'))
    replayed = replayedAt(block)
    await expectCounted(20)
  })

  it.each([
    ['floods', 20_000, 'ignored'],
    ['garbage', 50, 'unparsed'],
  ] as const)('is counted exactly though its program %s', async (how, lines, result) => {
    const series = ['chain_agent_lines_total', { format: 'ledger-tail', result }] as const
    const earlier = (await node.look()).value(...series) ?? 0
    await node.ledger.goMad(how, lines)
    await expectCounted(20)
    await node.waitFor(earlier + lines, ...series)
  })

  it('is followed again when the follower no longer receives entries', async () => {
    const restarts = async (): Promise<number | undefined> =>
      (await node.look()).value('chain_agent_journal_restarts_total', { service: 'ledger-tail' })
    const earlier = await restarts()
    const follower = `^/usr/bin/journalctl --follow.*${node.unit('ledger-tail')}`
    expect(await node.exec('pkill', ['-STOP', '-f', follower])).toMatchObject({ code: 0 })
    await expectCounted(40)
    expect(await restarts()).toBe((earlier ?? Number.NaN) + 1)
  })

  it('has a gap, and says so, when the journal no longer reaches back to where the agent was', async () => {
    const gaps = async (): Promise<number | undefined> =>
      (await node.look()).value('chain_agent_journal_gaps_total', { service: 'ledger-tail' })
    expect(await gaps()).toBe(0)
    await endAgent('stop')
    await node.exec('journalctl', ['--rotate'])
    await node.exec('journalctl', ['--vacuum-time=1ms'])
    await runUnheard(10)
    await node.startAgent()
    await expectCounted(10)
    expect(await gaps()).toBe(1)
  })
})
