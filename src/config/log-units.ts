import type { Config } from './schema.ts'

/** The units of the node and of the agent, by label. */
export type LogUnits = ReadonlyMap<string, string>

type UnitSettings = Pick<Config, 'services' | 'logs' | 'ledger' | 'consensus' | 'execution'>

/** The units whose logs are read, with the name prefix of the node. */
export const logUnits = (settings: UnitSettings, prefix: string): LogUnits => {
  const { services, logs, ledger, consensus, execution } = settings
  const templates = {
    ...services.units,
    ...logs.units,
    'ledger-tail': ledger.unit,
    bft: consensus.unit,
    execution: execution.unit,
    agent: 'chain-agent.service',
  }
  return new Map(Object.entries(templates).map(([label, unit]) => [label, unit.replaceAll('{prefix}', prefix)]))
}
