import type { Config } from './schema.ts'

/** The units of the node and of the agent, by label. */
export type LogUnits = ReadonlyMap<string, string>

/** The units whose logs are read, with the name prefix of the node. */
export const logUnits = (
  {
    services,
    logs,
    ledger,
    consensus,
    execution,
  }: Pick<Config, 'services' | 'logs' | 'ledger' | 'consensus' | 'execution'>,
  prefix: string,
): LogUnits => {
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
