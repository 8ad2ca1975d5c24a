import { describe, expect } from 'vitest'
import { it } from '../support/directory.ts'
import { change, withGraph } from './faults.ts'
import { committed, dashboardSchema, type Panel } from './model.ts'
import { typeErrors } from './schema.ts'

describe('the types that Grafana publishes', () => {
  it.for([...committed()])('%s', async ([, json], { directory }) => {
    expect(await typeErrors(dashboardSchema.parse(json), directory)).toBe('')
  })

  const withField = (custom: Record<string, unknown>) => (panel: Panel) => {
    panel.fieldConfig = { defaults: { custom }, overrides: [] }
  }
  const withProperty = (id: string, value: unknown) => (panel: Panel) => {
    panel.fieldConfig = {
      defaults: {},
      overrides: [{ matcher: { id: 'byName', options: 'Node' }, properties: [{ id, value }] }],
    }
  }
  const faults: readonly (readonly [string, string, (panel: Panel) => void])[] = [
    [
      'an option that the panel has not',
      `'"colorMode"' does not exist`,
      (panel) => (panel.options = { colorMode: 'value' }),
    ],
    [
      'a value that the option has not',
      `'"all"' is not assignable`,
      (panel) => (panel.options = { tooltip: { mode: 'all' } }),
    ],
    ['a setting that its fields have not', `'"lineSize"' does not exist`, withField({ lineSize: 2 })],
    ['a setting of another type', `Type 'string' is not assignable`, withField({ lineWidth: '2' })],
    ['a property that no field has', `'"units"' does not exist`, withProperty('units', 's')],
    ['a nested property that its fields have not', `'"vis"' does not exist`, withProperty('custom.hideFrom.vis', true)],
  ]
  it.for(faults)('find %s', async ([, error, plant], { directory }) => {
    const dashboard = withGraph()
    change(plant)(dashboard)
    const lines = (await typeErrors(dashboard, directory)).trim().split('\n')
    expect(lines).toEqual([expect.stringContaining(error)])
  })
})
