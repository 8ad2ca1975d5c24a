import { fileURLToPath } from 'node:url'
import { beforeAll, expect, it } from 'vitest'
import { createExecutionControl, type ExecutionTotals, executionTotals, executionTruth } from '../support/execution.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { createNode, requireSandbox, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const PROGRAM = fileURLToPath(new URL('../fixtures/bin/execution.mjs', import.meta.url))
const SERVICE = { service: 'execution' }

describe('the log of execution in a real journal', () => {
  let node: SandboxedNode
  let control: ReturnType<typeof createExecutionControl>
  let block = 0
  /** Heights that were executed again by a process that began there. */
  const again: number[] = []

  /** What the histograms of agents that ended had counted: those of the next agent start at 0. */
  let ended = { durations: 0, upserts: 0 }

  const counted = async (): Promise<ExecutionTotals> => {
    const { durations, upserts, ...counters } = executionTotals(await node.look())
    return { ...counters, durations: ended.durations + durations, upserts: ended.upserts + upserts }
  }

  /** Resumes the node, and waits until every line is counted: no more, no less. */
  const expectCounted = async (further: number): Promise<void> => {
    block += further
    await control.goTo(block)
    const truth = executionTruth(block, again)
    await eventually(counted, ({ lines }) => lines >= truth.lines)
    expect(await counted()).toEqual(truth)
  }
  const runUnheard = async (further: number): Promise<void> => {
    block += further
    await control.goTo(block)
    await control.reached(block)
  }
  const startAgent = async (): Promise<void> => {
    await node.startAgent()
    const up = { collector: 'execution' }
    await node.waitFor(1, 'chain_agent_collector_up', up)
  }
  const endAgent = async (...how: readonly string[]): Promise<void> => {
    ended = await counted()
    await node.systemctl(...how, 'chain-agent.service')
  }

  beforeAll(async () => {
    const often = { interval: '500ms' }
    const rpc = { url: `http://127.0.0.1:${await freePort()}`, ...often }
    const config = { rpc, services: often, lifecycle: often, ledger: often, execution: often }
    node = await createNode('zephyr', { config })
    control = createExecutionControl(node.directory)
    const program = `${process.execPath} ${PROGRAM} ${node.directory} 20`
    await node.writeUnit(`${node.unit('execution')}.d/log.conf`, `[Service]\nExecStart=\nExecStart=${program}\n`)
    await startAgent()
    await node.systemctl('start', node.unit('execution'))
    return node.down
  })

  it('is counted, and shows where the node is', async () => {
    await expectCounted(55)
    const { value } = await node.look()
    expect(value('chain_execution_block_number')).toBe(55)
    expect(value('chain_execution_block_started_timestamp_seconds')).toBe(1_780_308_022) // 55 × 0.4 s
    expect(value('chain_execution_finalized_block_number')).toBe(53)
    expect(value('chain_execution_storage_used_ratio')).toBe(0.501)
    expect(value('chain_execution_storage_chunks', { list: 'free' })).toBe(49)
    expect(value('chain_execution_history_earliest_block', { timeline: 'primary' })).toBe(5)
    expect(value('chain_execution_memory_bytes')).toBe(6005 * 1_048_576)
    expect(value('chain_agent_journal_last_entry_timestamp_seconds', SERVICE)).toBeGreaterThan(0)
  })

  it('is filtered by journalctl: lines without interest are not even handed over', async () => {
    const { value } = await node.look()
    const lines = (result: string): number | undefined =>
      value('chain_agent_lines_total', { format: 'execution-log', result })
    expect([lines('ignored'), lines('unparsed')]).toEqual([0, 0])
    const calls = await node.calls()
    expect(calls.some((call) => /--grep=.*__exec_block/.test(call))).toBe(true)
  })

  it('of a new process says which blocks were executed again, and they are no other blocks', async () => {
    await node.systemctl('restart', node.unit('execution'))
    again.push(block - 1, block)
    await expectCounted(20)
  })

  it('loses and doubles nothing when the agent is killed', async () => {
    await endAgent('kill', '--signal=KILL')
    await runUnheard(25)
    await startAgent()
    await expectCounted(20)
  })

  it('remembers over a restart of the agent which blocks were executed', async () => {
    await expectCounted(10 - (block % 10)) // a height with two blocks
    await endAgent('stop')
    await node.systemctl('restart', node.unit('execution'))
    again.push(block - 1, block)
    await startAgent()
    await expectCounted(5)
  })

  it('is counted exactly though some of its lines are cut', async () => {
    const unparsed = async (): Promise<number> =>
      (await node.look()).value('chain_agent_lines_total', { format: 'execution-log', result: 'unparsed' }) ?? 0
    const before = await unparsed()
    await control.printGarbage(50)
    await expectCounted(20)
    await eventually(unparsed, (now) => now >= before + 50)
    expect(await unparsed()).toBe(before + 50)
  })
})
