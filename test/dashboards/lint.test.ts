import { expect, it } from 'vitest'
import { lint } from './lint.ts'
import { committed, dashboardSchema, panelsOf } from './model.ts'

it('the lint has no findings about the dashboards', () => {
  expect(lint(committed())).toEqual([])
  const names = 'agent consensus duties fleet node query-service staking storage'.split(' ')
  expect([...committed().keys()].toSorted()).toEqual(names)
})

// A phone has one column: by line, then from left to right.
it.each([...committed()])('%s begins with the alerts that fire, if it has them', (_name, json) => {
  const titles = panelsOf(dashboardSchema.parse(json))
    .toSorted((a, b) => a.gridPos.y - b.gridPos.y || a.gridPos.x - b.gridPos.x)
    .map(({ title }) => title)
  expect(titles.indexOf('Alerts that fire')).toBeLessThanOrEqual(0)
})

it('every link to a panel leads to one', () => {
  const known = [...committed()].flatMap(([name, json]) =>
    panelsOf(dashboardSchema.parse(json)).map(({ id }) => `chain-${name} ${id}`),
  )
  const links = JSON.stringify([...committed().values()]).matchAll(/\/d\/([\w-]+)\?[^"]*viewPanel=(\d+)/g)
  const named = [...links].map(([, dashboard, id]) => `${dashboard} ${id}`)
  expect(named.length).toBeGreaterThan(100)
  expect(named.filter((link) => !known.includes(link))).toEqual([])
})
