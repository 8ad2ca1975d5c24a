import { expect, test } from 'vitest'
// Loaded before the clock moves: the command line imports a command when it is used.
import '../../../src/commands/events/command.ts'
import type { Event } from '../../../src/domain/event.ts'
import { readEventsQuery, renderEvents } from '../../../src/exporter/api.ts'
import { startCli } from '../../support/cli.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'

const AT = Date.UTC(2026, 2, 1)
const event = (id: number, to: string): Event => ({
  id,
  at: AT + id,
  collector: 'services',
  subject: 'bft',
  from: null,
  to,
  severity: 'warning',
})

test('after the events have restarted they are followed from the start, with a note', async () => {
  let kept = [event(7, 'old')]
  const clock = manualClock(AT)
  const running = startCli(['events', '-f', '--json'], {
    clock,
    overrides: {
      ask: ({ url }) => {
        const query = readEventsQuery(new URL(url).searchParams)
        if (typeof query === 'string') throw new Error(query)
        return Promise.resolve({ status: 200, text: JSON.stringify(renderEvents(kept, query)) })
      },
    },
  })
  // The command is loaded first, in real time.
  await eventually(running.out.text, (text) => text !== '')
  await clock.advance(1000)
  // The state directory was emptied, and the agent restarted.
  kept = [event(1, 'new')]
  for (let turn = 0; turn < 4; turn += 1) await clock.advance(1000)
  const { code, out, err } = await running.interrupt()
  expect(code).toBe(0)
  expect(out.match(/"to":"\w+"/g)).toEqual(['"to":"old"', '"to":"new"'])
  expect(err).toBe('The stored changes were deleted; continuing with newer ones.\n')
})
