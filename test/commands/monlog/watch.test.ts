import { expect, test } from 'vitest'
import { T0 } from '../../collectors/consensus-log.ts'
import { startCli } from '../../support/cli.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { healthy, hostWith } from './recorded-log.ts'

test('--watch in a pipe: one line every ten seconds, with the end of its range', async () => {
  const clock = manualClock(T0 + 90_000)
  // Block 500 + n is committed and round 1000 + n closed in second n after T0.
  const running = startCli(['monlog', '--set', 'prefix=chain', '--watch'], {
    clock,
    overrides: { exec: hostWith(healthy(0, 130)).exec },
  })
  const looks = () => running.out.chunks.length
  await eventually(looks, 1, { every: 5 })
  await clock.advance(9_999)
  expect(looks()).toBe(1)
  await clock.advance(1)
  await eventually(looks, 2, { every: 5 })
  expect(await running.interrupt()).toMatchObject({
    code: 0,
    out:
      '2026-05-02T08:01:30Z LOG: blocks were processed and committed. round 1089, block 589\n' +
      '2026-05-02T08:01:40Z LOG: blocks were processed and committed. round 1099, block 599\n',
  })
})
