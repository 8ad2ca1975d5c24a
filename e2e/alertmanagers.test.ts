import { expect, test } from 'vitest'
import { hour } from '../src/core/units.ts'
import { FAULTS } from './faults.ts'
import { runFault } from './run-fault.ts'

/** Ten failures of different parts; each fires one alert of its name. */
const TEN = (
  process.env['FAULT'] ?? 'stall,deadlock,isolation,no-votes,behind,diverged,crash,finality,chunks,clock'
).split(',')

/** Forty runs of four to six minutes, three at a time. */
const TIMEOUT_MS = 2 * hour

const WAYS = (['0.25', '0.33'] as const).flatMap((version) =>
  (['agent', 'both'] as const).map((sender) => ({ version, sender })),
)

test(
  'ten failures, from the fault to the webhook, sent by the agent alone, and next to Prometheus',
  async () => {
    const queue = WAYS.flatMap((way) =>
      FAULTS.filter(({ fault }) => TEN.includes(fault)).map((fault) => ({ way, fault })),
    )
    const rows: string[] = []
    const problems: string[] = []
    const work = async (): Promise<void> => {
      for (let next = queue.shift(); next; next = queue.shift()) {
        const { version, sender } = next.way
        const { fault, alert, fired, resolved, alerts, began } = await runFault(next.fault, next.way)
        const times = `${fired?.toFixed(1) ?? 'never'} | ${resolved?.toFixed(1) ?? 'never'}`
        const row = `| ${version} | ${sender} | ${fault} | ${alert} | ${times} | ${alerts} | ${began} |`
        console.log(row)
        rows.push(row)
        if (fired === undefined || resolved === undefined || alerts !== 1) problems.push(row)
      }
    }
    await Promise.all([work(), work(), work()])
    console.log(rows.toSorted().join('\n'))
    expect(problems).toEqual([])
  },
  TIMEOUT_MS,
)
