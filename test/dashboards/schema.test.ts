import { describe, expect } from 'vitest'
import { it } from '../support/directory.ts'
import { committed, dashboardSchema } from './model.ts'
import { typeErrors } from './schema.ts'

describe('the types that Grafana publishes', () => {
  it.for([...committed()])('%s', async ([, json], { directory }) => {
    expect(await typeErrors(dashboardSchema.parse(json), directory)).toBe('')
  })
})
