import { expect, test } from 'vitest'
import { compareSurfaces, contradictionsOf } from './surfaces.ts'

await compareSurfaces(0, 3)

test('the page of a crash, each second for two minutes: no figure contradicts the first lines', async () => {
  expect(await contradictionsOf('service-crash')).toEqual([])
})
