import type { Config } from '../../config/schema.ts'
import { type LogUnits, logUnits } from '../../config/log-units.ts'
import { closestMatch } from '../../core/suggest.ts'
import type { Exec } from '../../sources/exec.ts'
import { createPrefix } from '../../sources/prefix.ts'
import type { SourceContext } from '../../terminal/io.ts'

/** The units of the node and of the agent, by label. */
export const findUnits = async ({
  config,
  exec,
  path,
  signal,
}: Pick<SourceContext, 'path' | 'signal'> & { readonly config: Config; readonly exec: Exec }): Promise<LogUnits> => {
  const { word } = await createPrefix({ exec, path, configured: config.prefix })(signal)
  return logUnits(config, word)
}

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
