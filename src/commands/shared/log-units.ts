import type { Config } from '../../config/schema.ts'
import { type LogUnits, logUnits } from '../../config/log-units.ts'
import { closestMatch } from '../../core/suggest.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'

/** The units of the node and of the agent, by label. */
export const findUnits = async (config: Config, readPrefix: ReadPrefix, signal: AbortSignal): Promise<LogUnits> =>
  logUnits(config, (await readPrefix(signal)).word)

/** The label of a service name: the label, or the unit with or without prefix and suffix. */
export const labelOf = (word: string, units: LogUnits): string | undefined => {
  const wanted = word.replace(/\.service$/, '').toLowerCase()
  for (const [label, unit] of units) if (namesOf(label, unit).includes(wanted)) return label
  return undefined
}

/** A suggestion for a misspelt service name, in the same form. */
export const nearestLabel = (word: string, units: LogUnits): string | undefined =>
  closestMatch(
    word.replace(/\.service$/, ''),
    [...units].flatMap(([label, unit]) => namesOf(label, unit)),
  )

const namesOf = (label: string, unit: string): readonly string[] => {
  const name = unit.replace(/\.service$/, '')
  return [label, name, name.slice(name.indexOf('-') + 1)]
}
