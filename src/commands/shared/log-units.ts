import type { Config } from '../../config/schema.ts'
import { closestMatch } from '../../core/suggest.ts'
import type { Exec } from '../../sources/exec.ts'
import { createPrefix } from '../../sources/prefix.ts'

type Units = ReadonlyMap<string, string>

interface FindUnitsOptions {
  readonly config: Config
  readonly exec: Exec
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

/** The units of the node and of the agent, by label. */
export const findUnits = async ({ config, exec, path, signal }: FindUnitsOptions): Promise<Units> => {
  const { word } = await createPrefix({ exec, path, configured: config.prefix })(signal)
  const templates = {
    ...config.services.units,
    ...config.logs.units,
    'ledger-tail': config.ledger.unit,
    bft: config.consensus.unit,
    execution: config.execution.unit,
    agent: 'chain-agent.service',
  }
  return new Map(Object.entries(templates).map(([label, unit]) => [label, unit.replaceAll('{prefix}', word)]))
}

/** The label of a service name: the label, or the unit with or without prefix and suffix. */
export const labelOf = (word: string, units: Units): string | undefined => {
  const wanted = word.replace(/\.service$/, '').toLowerCase()
  for (const [label, unit] of units) if (namesOf(label, unit).includes(wanted)) return label
  return undefined
}

/** A suggestion for a misspelt service name, in the same form. */
export const nearestLabel = (word: string, units: Units): string | undefined =>
  closestMatch(
    word.replace(/\.service$/, ''),
    [...units].flatMap(([label, unit]) => namesOf(label, unit)),
  )

const namesOf = (label: string, unit: string): readonly string[] => {
  const name = unit.replace(/\.service$/, '')
  return [label, name, name.slice(name.indexOf('-') + 1)]
}
