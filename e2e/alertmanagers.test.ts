import { expect, test } from 'vitest'
import { FAULTS } from './faults.ts'
import { runFault } from './run-fault.ts'

/** Ten failures of different parts. */
const TEN = (
  process.env['FAULT'] ?? 'stall,deadlock,isolation,no-votes,behind,rpc-down,crash,finality,chunks,clock'
).split(',')

test('ten failures, from the fault to the webhook, sent by the agent alone, and next to Prometheus', async () => {
  const rows: string[] = []
  const problems: string[] = []
  for (const version of ['0.25', '0.33'] as const) {
    for (const sender of ['agent', 'both'] as const) {
      const queue = FAULTS.filter(({ fault }) => TEN.includes(fault))
      const work = async (): Promise<void> => {
        for (let next = queue.shift(); next; next = queue.shift()) {
          const { fault, alert, fired, resolved, alerts } = await runFault(next, { sender, version })
          const row = `| ${version} | ${sender} | ${fault} | ${alert} | ${fired?.toFixed(1) ?? 'never'} | ${resolved?.toFixed(1) ?? 'never'} | ${alerts} |`
          console.log(row)
          rows.push(row)
          if (fired === undefined || resolved === undefined || alerts !== 1) problems.push(row)
        }
      }
      await Promise.all([work(), work(), work()])
    }
  }
  console.log(rows.join('\n'))
  expect(problems).toEqual([])
})
