import { listScenarios } from '../../simulator/scenario/scenario.ts'
import { simulate } from './simulate.ts'

await simulate(await listScenarios(), { part: 1, parts: 3 })
