import type { Config } from '../../config/schema.ts'
import { closestMatch } from '../../core/suggest.ts'
import type { Exec } from '../../sources/exec.ts'
import { createPrefix } from '../../sources/prefix.ts'

type Units = ReadonlyMap<string, string>

interface Parts {
  readonly config: Config
  readonly exec: Exec
  /** The search path for programs. */
  readonly path: string
  readonly signal: AbortSignal
}

/** The units of the node, and our own, by their labels. */
export const findUnits = async ({ config, exec, path, signal }: Parts): Promise<Units> => {
  const { word } = await createPrefix({ exec, path, configured: config.prefix })(signal)
  const templates = {
    ...config.services.units,
    ...config.logs.units,
    'ledger-tail': config.ledger.unit,
    bft: config.consensus.unit,
    execution: config.execution.unit,
    agent: 'chain-agent.service',
  }
  return new Map(
    Object.entries(templates).map(([label, unit]) => [label, unit.replaceAll('{prefix}', word)]),
  )
}

/** The label that a word means: itself, or the name of the unit, whole or without its first or last part. */
export const labelOf = (word: string, units: Units): string | undefined => {
  const wanted = word.replace(/\.service$/, '').toLowerCase()
  for (const [label, unit] of units) if (namesOf(label, unit).includes(wanted)) return label
  return undefined
}

/** What a misspelt word most likely meant: in the words of whoever wrote it. */
export const nearestLabel = (word: string, units: Units): string | undefined =>
  closestMatch(
    word.replace(/\.service$/, ''),
    [...units].flatMap(([label, unit]) => namesOf(label, unit)),
  )

const namesOf = (label: string, unit: string): readonly string[] => {
  const name = unit.replace(/\.service$/, '')
  return [label, name, name.slice(name.indexOf('-') + 1)]
}
