import { expect, test } from 'vitest'
import { z } from 'zod'
import { startHost } from '../support/host.ts'

const eventsSchema = z.object({
  events: z.array(z.object({ collector: z.string(), subject: z.string().nullable(), to: z.string(), at: z.string() })),
})
const LASTS_S = 125

/** The alerts that fire at severity critical, in order; the first one is the page. */
test.each([
  ['diverged', ['ChainStateDiverged', 'ChainBlockStalled', 'ChainBehind']],
  ['finality-stalled', ['ChainFinalityStalled']],
  ['network-halted', ['ChainNetworkHalted', 'ChainBlockStalled']],
])('%s', async (scenario, expected) => {
  const host = await startHost({ scenario, second: 0 })
  try {
    for (let second = 0; second < LASTS_S; second += 1) await host.second()
    const { events } = eventsSchema.parse(JSON.parse(await host.page('/api/v1/events?limit=1000')))
    const alerts = events
      .filter(({ collector, to }) => collector === 'alerts' && to.startsWith('critical'))
      .toSorted((a, b) => a.at.localeCompare(b.at))
      .map(({ subject }) => subject?.split(' ')[0])
    expect(alerts).toEqual(expected)
  } finally {
    await host.close()
  }
})
