import { loadScenario } from '../../simulator/scenario/scenario.ts'
import { simulate } from './simulate.ts'

/** A healthy node, and a failure of each of its services and of its database. */
const SHORT = ['healthy', 'panic', 'stalled', 'storage-full']

await simulate(await Promise.all(SHORT.map(loadScenario)))
