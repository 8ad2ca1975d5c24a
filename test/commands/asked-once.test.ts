import { expect, test } from 'vitest'
import { z } from 'zod'
import { openHost } from '../support/host.ts'

const schema = z.object({ findings: z.array(z.object({ says: z.string() })) })

/** What `check` finds on a host where no agent runs. */
const found = async (
  { scenario, second }: { readonly scenario: string; readonly second: number },
  ...settings: readonly string[]
): Promise<readonly string[]> => {
  const host = await openHost({ scenario, second, agent: false })
  const set = settings.flatMap((one) => ['--set', one])
  const { out } = await host.run(['check', '--json', ...set])
  return schema.parse(JSON.parse(out)).findings.map(({ says }) => says)
}

test('that blocks come is seen by asking the RPC twice, where no ledger stream tells it', async () => {
  const says = await found({ scenario: 'lagging', second: 90 }, 'ledger.enabled=false')
  expect(says[0]).toMatch(/^the node is about \d+ blocks behind the network$/)
})

test('what the logs said minutes ago is found', async () => {
  // Execution ended at the 30th second, and said why.
  const says = await found({ scenario: 'database-old', second: 220 })
  expect(says.find((one) => one.startsWith('the log of execution shows'))).toContain('db old format')
})

test('a tool that hangs takes along nothing that was read before', async () => {
  // The followers would be stale after three seconds, and the tools are given up after six.
  const says = await found(
    { scenario: 'tool-hangs', second: 35 },
    ...['lifecycle', 'ledger', 'consensus', 'execution', 'logs'].flatMap((name) => [
      `${name}.interval=500ms`,
      `${name}.timeout=2s`,
    ]),
    'storage.timeout=6s',
    'status.timeout=6s',
  )
  expect(says.filter((one) => one.endsWith('could not be read'))).toEqual(['storage and status could not be read'])
})
