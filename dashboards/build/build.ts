import { agentDashboard } from './agent/index.ts'
import { consensusDashboard } from './consensus/index.ts'
import { duties } from './duties/index.ts'
import { fleet } from './fleet/index.ts'
import { node } from './node/index.ts'
import { queryServiceDashboard } from './query-service/index.ts'
import { stakingDashboard } from './staking/index.ts'
import { storageDashboard } from './storage/index.ts'

/** The dashboard files, and the function that generates each. */
export const DASHBOARDS: Readonly<Record<string, () => string>> = {
  'dashboards/agent.json': () => textOf(agentDashboard()),
  'dashboards/consensus.json': () => textOf(consensusDashboard()),
  'dashboards/duties.json': () => textOf(duties()),
  'dashboards/fleet.json': () => textOf(fleet()),
  'dashboards/node.json': () => textOf(node()),
  'dashboards/query-service.json': () => textOf(queryServiceDashboard()),
  'dashboards/staking.json': () => textOf(stakingDashboard()),
  'dashboards/storage.json': () => textOf(storageDashboard()),
}

const WIDTH = 120

const textOf = (dashboard: object): string => `${layOut(JSON.parse(JSON.stringify(dashboard)))}\n`

/** JSON with every value that fits on one line: a changed query, colour or limit is one changed line. */
const layOut = (value: unknown, indent = ''): string => {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const parts = (within: string): readonly string[] =>
    Array.isArray(value)
      ? value.map((one) => layOut(one, within))
      : Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}: ${layOut(one, within)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  const line = `${open}${parts('').join(', ')}${close}`
  if (!line.includes('\n') && indent.length + line.length <= WIDTH) return line
  const within = `${indent}  `
  return `${open}\n${parts(within)
    .map((part) => within + part)
    .join(',\n')}\n${indent}${close}`
}
