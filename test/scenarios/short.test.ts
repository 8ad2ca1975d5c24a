import { listScenarios, loadScenario } from '../../simulator/scenario/scenario.ts'
import { simulate } from './simulate.ts'

/** A healthy node, and a failure of each of its services and of its database. */
const SHORT = ['healthy', 'panic', 'stalled', 'storage-full']

/** `npm run golden`, which updates the golden records of all. */
const isAll = process.env['SCENARIOS'] === 'all'

await simulate(isAll ? await listScenarios() : await Promise.all(SHORT.map(loadScenario)))
