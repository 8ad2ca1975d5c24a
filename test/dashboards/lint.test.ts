import { describe, expect, it } from 'vitest'
import { ALLOWED_FINDINGS } from './allowed-findings.ts'
import { FAULTS } from './faults.ts'
import type { Finding } from './findings.ts'
import { lint } from './lint.ts'
import { exclusions, RULES } from './lint/dashboard-linter.ts'
import { committed, dashboardSchema } from './model.ts'
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

  it.each(FAULTS)('$name', ({ rule, says, follows, plant }) => {
    const dashboard = withGraph()
    plant(dashboard)
    const all = lint(new Map([...committed(), ['node', dashboard]]), ['node']).filter(isNew)
    const found = all.filter((one) => one.rule !== follows)
    expect(found).toHaveLength(1)
    expect(found[0]?.rule).toBe(rule)
    expect(found[0]?.text).toContain(says)
  })
})

describe("the rules of Grafana's dashboard-linter", () => {
  const broken = Object.entries(RULES).map(([rule, check]) => ({
    rule,
    where: [...committed().values()]
      .map((json) => dashboardSchema.parse(json))
      .flatMap((dashboard) => check(dashboard).map((panel) => ({ dashboard: dashboard.title, panel }))),
  }))

  it.each(broken)('$rule', ({ rule, where }) => {
    const excluded = exclusions[rule]
    if (excluded && !excluded.entries) expect(where).not.toEqual([])
    else expect(where).toEqual(excluded?.entries ?? [])
  })

  it('every exclusion is of a rule', () => {
    expect(Object.keys(exclusions).filter((rule) => !(rule in RULES))).toEqual([])
  })

  it('find faults', () => {
    const found = (plant: (dashboard: ReturnType<typeof withGraph>) => void): readonly string[] => {
      const dashboard = withGraph()
      plant(dashboard)
      const intact = withGraph()
      return Object.entries(RULES).flatMap(([rule, check]) =>
        check(dashboard).length > check(intact).length ? [rule] : [],
      )
    }
    const asks = (expr: string) => (dashboard: ReturnType<typeof withGraph>) => {
      for (const target of lastTargets(dashboard)) target.expr = expr
    }
    expect(found(asks('sum(chain_execution_gas_total{job=~"$job", instance=~"$instance"})'))).toEqual([
      'target-counter-agg-rule',
    ])
    expect(found(asks('rate(chain_execution_gas_total{job=~"$job", instance=~"$instance"}[1m])'))).toEqual([
      'target-rate-interval-rule',
    ])
    expect(found(asks('up{job=~"$job"}'))).toEqual(['target-instance-rule'])
    expect(found(asks('up{instance=~"$instance"}'))).toEqual(['target-job-rule'])
    expect(
      found((dashboard) => {
        dashboard.editable = true
      }),
    ).toEqual(['uneditable-dashboard'])
  })
})

const lastTargets = ({ panels }: ReturnType<typeof withGraph>) => {
  const last = panels.at(-1)
  return last && last.type !== 'row' ? (last.targets ?? []) : []
}
