import { expect, test } from 'vitest'
import { T0 } from '../../collectors/consensus-log.ts'
import { startCli } from '../../support/cli.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { healthy, hostWith } from './recorded-log.ts'

/** A node that commits block 500 + n and closes round 1000 + n in second n after T0. */
const watchFor = async (words: readonly string[], isTerminal: boolean) => {
  const clock = manualClock(T0 + 90_000)
  const running = startCli(['monlog', '--set', 'prefix=chain', ...words], {
    env: { LANG: 'C.UTF-8', NO_COLOR: '1' },
    clock,
    overrides: { exec: hostWith(healthy(0, 130)).exec },
    ...(isTerminal && { terminal: { isTTY: true, columns: 100, rows: 60 } }),
  })
  const looks = () => running.out.chunks.filter((page) => page.includes('committed')).length
  const seen = async (count: number): Promise<void> => {
    await eventually(looks, (now) => now >= count, { every: 5 })
  }
  await seen(1)
  await clock.advance(9_999)
  const early = looks()
  await clock.advance(1)
  await seen(2)
  const { code, out } = await running.interrupt()
  return { code, early, text: out }
}

test('in a pipe: one line every ten seconds, with the end of its range', async () => {
  expect(await watchFor(['--watch'], false)).toEqual({
    code: 0,
    early: 1,
    text:
      '2026-05-02T08:01:30Z LOG: blocks were processed and committed. round 1089, block 589\n' +
      '2026-05-02T08:01:40Z LOG: blocks were processed and committed. round 1099, block 599\n',
  })
})

test('on a terminal: the report is refreshed in place', async () => {
  const { code, text } = await watchFor(['--watch', '10'], true)
  expect(code).toBe(0)
  const [hidden, first = '', second = ''] = text.split('\u001b[H')
  expect(hidden).toBe('\u001b[?25l')
  expect(first).toContain('  round      1,089\u001b[K\n')
  expect(second).toContain('  round      1,099\u001b[K\n')
  expect(text.endsWith('\u001b[?25h')).toBe(true)
})

test('as JSON: one document per line', async () => {
  const { text } = await watchFor(['--watch', '--json'], false)
  const rounds = text
    .trimEnd()
    .split('\n')
    .map((line) => /"round":"(\d+)"/.exec(line)?.[1])
  expect(rounds).toEqual(['1089', '1099'])
})
