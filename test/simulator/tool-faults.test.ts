import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from 'vitest'
import { createStatusTool } from '../../simulator/status-report.ts'
import { type Frame, withFaults } from '../../simulator/tools/tools.ts'
import { eventually } from '../support/eventually.ts'
import { startBench } from './bench.ts'
import { play } from './play.ts'

const benches: Awaited<ReturnType<typeof startBench>>[] = []
const start = async (...lines: readonly string[]) => {
  const bench = await startBench(lines.join('\n'))
  benches.push(bench)
  return bench
}
afterEach(async () => {
  await Promise.all(benches.splice(0).map(async (bench) => bench.close()))
})

describe('tools as real processes', () => {
  test.each([
    ['zephyr-mpt', /\(this may hang\):\n$/],
    ['zephyr-status', /^waiting for the control panel\n$/],
  ])(
    '%s hangs, does not heed SIGTERM, and dies by SIGKILL',
    async (name, said) => {
      const bench = await start('0s mpt hangs', '0s status hangs')
      const child = bench.launch(name, ['--storage', '/dev/triedb'])
      const closed = once(child, 'close')
      let stderr = ''
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk.toString()
      })
      const stdout = text(child.stdout)
      await eventually(
        () => stderr,
        (seen) => said.test(seen),
      )
      child.kill('SIGTERM')
      // Another call has run in the meantime, so that the signal has been delivered.
      expect((await bench.run('zephyr-node', '--version')).code).toBe(0)
      expect([child.exitCode, child.signalCode]).toEqual([null, null])
      child.kill('SIGKILL')
      await closed
      expect([child.exitCode, child.signalCode, await stdout]).toEqual([null, 'SIGKILL', ''])
    },
    30_000,
  )

  test('the storage tool aborts: no report, a backtrace, an assertion, SIGABRT', async () => {
    const bench = await start('0s mpt aborts')
    const child = bench.launch('zephyr-mpt', ['--storage', '/dev/triedb'])
    const closed = once(child, 'close')
    const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
    await closed
    expect([stdout, child.exitCode, child.signalCode]).toEqual(['', null, 'SIGABRT'])
    const lines = stderr.split('\n')
    expect(lines[0]).toBe('')
    expect(lines[1]).toMatch(/^ {6}0x[0-9a-f]+$/)
    expect(lines).toContain('   Attempting async signal unsafe human readable stacktrace (this may hang):')
    expect(lines.at(-3)).toMatch(/^zephyr-mpt: \S+:\d+: .*: Assertion '.*' failed\.$/)
    expect(lines.at(-2)).toBe('DB metadata was closed dirty, but not opened for healing')
  })
})

test('tool-hangs: calls that hang end from the 150th second on', async () => {
  const { node, clock, to } = await play('tool-hangs')
  const call = async (name: 'mpt' | 'status', frames: Frame[]): Promise<void> => {
    const tool = withFaults({ node, clock, name }, createStatusTool(node))
    for await (const frame of tool([], new AbortController().signal)) frames.push(frame)
  }
  const before: Frame[] = []
  await to(29)
  await call('status', before)
  expect(before.at(-1)).toEqual({ exit: 0 })
  await to(30)
  const [status, mpt]: [Frame[], Frame[]] = [[], []]
  const hanging = Promise.all([call('status', status), call('mpt', mpt)])
  await to(149)
  expect([status.length, mpt.length]).toEqual([2, 2])
  expect([status[0], mpt[0]]).toEqual([{ ignores: 'SIGTERM' }, { ignores: 'SIGTERM' }])
  await to(150)
  await hanging
  expect([status.at(-1), mpt.at(-1)]).toEqual([{ exit: 0 }, { signal: 'SIGABRT' }])
})
