import { duties } from './duties/index.ts'
import { fleet } from './fleet/index.ts'
import { node } from './node/index.ts'

/** The dashboard files, and the function that generates each. */
export const DASHBOARDS: Readonly<Record<string, () => string>> = {
  'dashboards/node.json': () => textOf(node()),
  'dashboards/fleet.json': () => textOf(fleet()),
  'dashboards/duties.json': () => textOf(duties()),
}

const textOf = (dashboard: object): string => `${JSON.stringify(dashboard, null, 2)}\n`
