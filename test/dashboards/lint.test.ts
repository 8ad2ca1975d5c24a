import { describe, expect, it } from 'vitest'
import { ALLOWED_FINDINGS } from './allowed-findings.ts'
import { FAULTS } from './faults.ts'
import type { Finding } from './findings.ts'
import { lint } from './lint.ts'
import { committed } from './model.ts'
import { withGraph } from './fault-fixtures.ts'

const before = lint(committed())
const isNew = ({ text }: Finding): boolean => before.every((one) => one.text !== text)

describe('the lint', () => {
  it('has no findings about the dashboards except allowed ones', () => {
    const isExcused = ({ rule, text }: Finding): boolean =>
      ALLOWED_FINDINGS.some((excuse) => excuse.rule === rule && text.startsWith(`${excuse.where}: `))
    expect(before.filter((one) => !isExcused(one))).toEqual([])
    expect([...committed().keys()].toSorted()).toEqual([
      'agent',
      'consensus',
      'duties',
      'fleet',
      'node',
      'query-service',
      'staking',
      'storage',
    ])
  })

  it('the panel into which faults are planted has no finding', () => {
    expect(lint(new Map([...committed(), ['node', withGraph()]]), ['node']).filter(isNew)).toEqual([])
  })

  it.each(FAULTS)('$says', ({ rule, says, follows, plant }) => {
    const dashboard = withGraph()
    plant(dashboard)
    const all = lint(new Map([...committed(), ['node', dashboard]]), ['node']).filter(isNew)
    const found = all.filter((one) => one.rule !== follows)
    expect(found).toHaveLength(1)
    expect(found[0]?.rule).toBe(rule)
    expect(found[0]?.text).toContain(says)
  })
})
