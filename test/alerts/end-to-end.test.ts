import { expect, it } from 'vitest'
import { FAULTS } from '../../e2e/faults.ts'
import { runFault } from '../../e2e/run-fault.ts'
import { requirePrometheus } from '../support/prometheus.ts'

const describe = await requirePrometheus()

/** Three of the rows of `npm run e2e:alerts`. */
const THESE = ['deadlock', 'crash', 'chunks']

describe('from the fault to the webhook of a real Alertmanager, and its resolution', () => {
  it('for a deadlock and a crash of consensus, and a database that is almost full', async () => {
    const faults = FAULTS.filter(({ fault }) => THESE.includes(fault))
    expect(faults).toHaveLength(THESE.length)
    const rows = await Promise.all(faults.map(async (fault) => runFault(fault)))
    console.log(rows)
    for (const { fault, fired, resolved } of rows) {
      expect(fired, fault).toBeGreaterThan(0)
      expect(resolved, fault).toBeGreaterThanOrEqual(0)
    }
  })
})
