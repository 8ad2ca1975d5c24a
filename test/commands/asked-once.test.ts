import { expect, test } from 'vitest'
import { z } from 'zod'
import { openHost } from '../support/host.ts'

const schema = z.object({ findings: z.array(z.object({ summary: z.string() })) })

/** What `check` finds on a host where no agent runs. */
const found = async (
  { scenario, second }: { readonly scenario: string; readonly second: number },
  ...settings: readonly string[]
): Promise<readonly string[]> => {
  const host = await openHost({ scenario, second, agent: false })
  const set = settings.flatMap((one) => ['--set', one])
  const { out } = await host.run(['check', '--json', ...set])
  return schema.parse(JSON.parse(out)).findings.map(({ summary }) => summary)
}

test('that blocks come is seen by asking the RPC twice, where no ledger stream tells it', async () => {
  const summary = await found({ scenario: 'lagging', second: 90 }, 'ledger.enabled=false')
  expect(summary[0]).toBe('the newest block of the node is too old')
})

test('what the logs said minutes ago is found', async () => {
  // Execution ended at the 30th second, and said why.
  const summary = await found({ scenario: 'database-old', second: 220 })
  expect(summary.find((one) => one.startsWith('the log of execution'))).toContain('db_old_format')
})
