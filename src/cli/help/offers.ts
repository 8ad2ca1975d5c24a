import { keys } from '../../config/keys.ts'
import { schema } from '../../config/schema.ts'
import { chapters } from '../../metrics.ts'
import { listScenarios } from '../../simulator/scenario/scenario.ts'
import { createRunbooks } from '../../sources/runbooks.ts'
import { ALL, SECTIONS } from '../../commands/status/sections.ts'
import type { Offer } from './taking.ts'
import type { Words } from './describe.ts'

export type Offers = Readonly<Record<Offer, readonly string[]>>

/** What can be typed where only this program knows what there is. */
export const listOffers = async (program: Words): Promise<Offers> => {
  const services = Object.keys(schema.parse({}).services.units)
  const sections = SECTIONS.map(({ name }) => name)
  return {
    alert: await createRunbooks().list(),
    section: [...new Set([...sections, ...services, ALL])],
    scenario: (await listScenarios()).map(({ name }) => name),
    key: keys.map(({ path }) => `${path}=`),
    service: services,
    command: program.commands.map(({ name }) => name),
    collector: Object.keys(chapters).filter((name) => name !== 'agent' && name !== 'queryService'),
    level: schema.shape.log.def.innerType.shape.level.def.innerType.options,
  }
}
