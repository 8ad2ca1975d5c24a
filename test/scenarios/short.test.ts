import { loadScenario } from '../../simulator/scenario/scenario.ts'
import { simulate } from './simulate.ts'

/** Few scenarios that touch every collector: healthy ones, and each kind of failure once. */
const SHORT = [
  'healthy',
  'node-down',
  'tool-aborts',
  'references-down',
  'storage-full',
  'backup-truncated',
  'nvme-failing',
  'statesync',
]

await simulate(await Promise.all(SHORT.map(loadScenario)), { longest: 100 })
