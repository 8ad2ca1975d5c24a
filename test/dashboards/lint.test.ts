import { describe, expect, it } from 'vitest'
import { FAULTS, withGraph } from './faults.ts'
import type { Finding } from './findings.ts'
import { lint } from './lint.ts'
import { committed, dashboardSchema, panelsOf } from './model.ts'

const before = lint(committed())
const isNew = ({ text }: Finding): boolean => before.every((one) => one.text !== text)

describe('the lint', () => {
  it('has no findings about the dashboards', () => {
    expect(before).toEqual([])
    const names = 'agent consensus duties fleet node query-service staking storage'.split(' ')
    expect([...committed().keys()].toSorted()).toEqual(names)
  })

  it('the panel into which faults are planted has no finding', () => {
    expect(lint(new Map([...committed(), ['node', withGraph()]]), ['node']).filter(isNew)).toEqual([])
  })

  it.each(FAULTS)('$says', ({ rule, says, plant }) => {
    const dashboard = withGraph()
    plant(dashboard)
    const found = lint(new Map([...committed(), ['node', dashboard]]), ['node']).filter(isNew)
    expect(found).toHaveLength(1)
    expect(found[0]?.rule).toBe(rule)
    expect(found[0]?.text).toContain(says)
  })
})

// A phone has one column: by line, then from left to right.
it.each([...committed()])('%s begins with the alerts that fire, if it has them', (_name, json) => {
  const titles = panelsOf(dashboardSchema.parse(json))
    .toSorted((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x)
    .map(({ title }) => title)
  expect(titles.indexOf('Alerts that fire')).toBeLessThanOrEqual(0)
})
