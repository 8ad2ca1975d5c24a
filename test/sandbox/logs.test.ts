import { appendFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { LOG_STATES } from '../../src/domain/log-state.ts'
import { LOG_PATTERN, mayMatchPattern } from '../../src/parsers/log-patterns/classify.ts'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const PANIC = "thread 'main' panicked at zephyr-consensus-state/src/lib.rs:412:17:"
const TOO_FAR = 'high qc too far ahead of block tree root, restart client and statesync.'
const ASSERTION = [
  '      0x5581b3e0c4d1',
  '',
  '   Attempting async signal unsafe human readable stacktrace (this may hang):',
  '      0x5581b3e0c4d1: zephyr_assertion_failed',
  '',
  "zephyr: runloop.cpp:301: void zephyr::run(): Assertion 'it != cache.end()' failed.",
  'assertion failure message: blocks diverge at the third one',
  '',
]
const HEALTHY = '2026-05-02 08:00:01.204411902 [7711] runloop.cpp:391 LOG_INFO\t__exec_block,bl=    5,tx=    2'

describe('the logs of a node, under a real journald', () => {
  const beganAt = Date.now() / 1000
  let node: SandboxedNode

  const file = (service: string): string => join(node.directory, `${service}.log`)
  /** Makes the program of a service print these lines. */
  const say = async (service: string, ...lines: readonly string[]): Promise<void> =>
    appendFile(file(service), lines.map((line) => `${line}\n`).join(''))
  const total = async (service: string, pattern: string): Promise<number | undefined> =>
    (await node.look()).value('chain_log_pattern_total', { service, pattern })
  const counted = async (service: string, pattern: string, times: number) =>
    node.waitFor(times, 'chain_log_pattern_total', { service, pattern })
  const logged = async (text: string): Promise<void> => {
    await eventually(node.log, (log) => log.includes(text))
  }
  const isUp = async (): Promise<void> => {
    await node.waitFor(1, 'chain_agent_collector_up', { collector: 'logs' })
  }

  beforeAll(async () => {
    const often = { interval: '500ms' }
    const url = `http://127.0.0.1:${await freePort()}`
    node = await createNode('zephyr', {
      config: {
        rpc: { url, ...often },
        services: often,
        logs: often,
      },
    })
    for (const service of ['bft', 'execution', 'cruft']) {
      await writeFile(file(service), '')
      // A program whose every line is ours, in one process and one stream.
      const start = `ExecStart=/usr/bin/tail -n +1 -s 0.1 -F ${file(service)}`
      const namespace = service === 'execution' ? 'LogNamespace=node' : ''
      await node.writeUnit(node.unit(service), `[Service]\n${start}\n${namespace}\n`)
    }
    const toFile = `StandardOutput=append:${file('rpc')}`
    await node.writeUnit(node.unit('rpc'), `[Service]\nExecStart=/usr/bin/tail -F ${file('bft')}\n${toFile}\n`)
    await node.systemctl('start', ...['bft', 'execution', 'cruft', 'rpc'].map((word) => node.unit(word)))
    await node.startAgent()
    await isUp()
    return node.down
  })

  it('are searched together: what is told line by line, and mixed, is told as one', async () => {
    expect(await total('bft', 'panic')).toBe(0)
    await say('execution', HEALTHY, ...ASSERTION)
    await say('bft', PANIC, TOO_FAR)
    await say('cruft', 'Cleanup completed successfully')
    await counted('execution', 'assertion', 1)
    await counted('bft', 'high_qc_too_far', 1)
    await counted('cruft', 'cleanup_completed', 1)
    expect(await total('bft', 'panic')).toBe(1)
    await logged('assertion: blocks diverge at the third one')
    await logged(`panic: ${TOO_FAR}; high_qc_too_far: ${TOO_FAR}`)
  })

  it('of execution is in a journal namespace, and that of rpc in a file', async () => {
    const stateOf = async (service: string): Promise<string | undefined> => {
      const { value } = await node.look()
      return LOG_STATES.find((state) => value('chain_agent_log_state', { service, state }) === 1)
    }
    await eventually(
      async () => Promise.all(['bft', 'execution', 'rpc'].map(stateOf)),
      (states) => states.join() === 'read,read,other output',
    )
    await logged('rpc log: not read: systemd does not send its output to the journal')
    expect(await total('rpc', 'panic')).toBeUndefined()
  })

  it('lose and double nothing when the agent is killed, and a reason finds what it explains', async () => {
    await say('bft', PANIC)
    await counted('bft', 'panic', 2)
    await node.systemctl('kill', '--signal=KILL', 'chain-agent.service')
    await say('bft', 'index out of bounds: the length is 3', PANIC, 'no such validator')
    await say('cruft', 'No new files detected. Skipping deletion')
    await node.startAgent()
    // The killed agent has counted 2.
    await counted('bft', 'panic', 3)
    await counted('cruft', 'cleanup_skipped', 1)
    await logged('panic: no such validator')
    expect(await total('bft', 'high_qc_too_far')).toBe(1)
    expect(await total('execution', 'assertion')).toBe(1)
    expect((await node.look()).value('chain_agent_journal_gaps_total', { service: 'logs' })).toBe(0)
  })

  it('are filtered by journalctl as they would be here', async () => {
    const rows = await readFile(new URL('../fixtures/log-patterns/lines.jsonl', import.meta.url), 'utf8')
    const lines = rows
      .trimEnd()
      .split('\n')
      .map((row) => z.object({ line: z.string() }).parse(JSON.parse(row)).line)
    const end = '2026-05-02 08:00:01.204411902 [7711] a.cpp:1 LOG_ERROR\tthat is all'
    await node.writeUnit('zephyr-lines.service', `[Service]\nExecStart=/bin/cat ${file('lines')}\n`)
    await writeFile(file('lines'), [...lines, end, ''].join('\n'))
    await node.systemctl('start', 'zephyr-lines.service')
    const own = ['_SYSTEMD_UNIT=zephyr-lines.service', '-o', 'cat', '--no-pager']
    const shown = await eventually(
      async () => (await node.exec('journalctl', [...own, `--grep=${LOG_PATTERN}`])).stdout.trimEnd().split('\n'),
      (seen) => seen.at(-1) === end,
    )
    expect(shown).toEqual([...lines, end].filter(mayMatchPattern))
    expect(shown.length).toBeLessThan(lines.length)
  })

  it('tell how far back the journal reaches', async () => {
    const oldest = 'chain_log_oldest_entry_timestamp_seconds'
    const before = await node.present(oldest, { service: 'bft' })
    expect(before).toBeGreaterThanOrEqual(beganAt)
    expect(before).toBeLessThanOrEqual(Date.now() / 1000)
    for (const namespace of [[], ['--namespace=node']]) {
      await node.exec('journalctl', [...namespace, '--rotate'])
      await node.exec('journalctl', [...namespace, '--vacuum-time=1ms'])
    }
    const vacuumedAt = Date.now() / 1000
    await say('bft', 'after that')
    const after = await node.see(
      ({ value }) => value(oldest, { service: 'bft' }),
      (at) => (at ?? 0) > before,
    )
    expect(after).toBeGreaterThanOrEqual(vacuumedAt)
    expect(after).toBeLessThanOrEqual(Date.now() / 1000)
    // Nothing of execution is left, and nothing is known then.
    await node.waitFor(undefined, oldest, { service: 'execution' })
  })
})
