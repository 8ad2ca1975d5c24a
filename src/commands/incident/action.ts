import { existsSync } from 'node:fs'
import { capital } from '../../core/format.ts'
import { closestMatch } from '../../core/suggest.ts'
import { incidentDirectory, listIncidents } from '../../sources/incident-files.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, UsageError } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { readIncident, readIncidents } from './incidents.ts'
import { incidentLines, listLines, strongLines } from './render.ts'

interface Options extends ConfigOptions, OutputOptions {
  readonly id?: string
}

export const showIncident = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  const { config } = configOf(io, options)
  const directory = incidentDirectory(config.state.directory)
  const { id } = options
  if (id === undefined) {
    const incidents = await readIncidents(directory)
    const none = incidents.length === 0 ? noIncident(config.state.directory) : null
    printResult(
      { io, options },
      {
        document: () => ({ directory, incidents, noneBecause: none }),
        lines: (style) => (none === null ? listLines(incidents, directory, style) : strongLines(capital(none), style)),
      },
    )
  } else {
    const ids = (await listIncidents(directory)).map((file) => file.id)
    const wanted = id === 'latest' ? ids.at(-1) : id
    if (wanted === undefined || !ids.includes(wanted))
      throw new UsageError(ids.length === 0 ? noIncident(config.state.directory) : unknownId(id, ids, directory))
    const incident = await readIncident(directory, wanted)
    printResult({ io, options }, { document: () => incident, lines: (style) => incidentLines(incident, style) })
  }
  exit(0)
}

/** Without the directory of its state, no agent has run, and nothing is known. */
const noIncident = (stateDirectory: string): string =>
  existsSync(stateDirectory)
    ? `no incident is kept in ${incidentDirectory(stateDirectory)}; the agent keeps one when a critical alert fires.`
    : `no agent has run here with this configuration: there is no ${stateDirectory}.`

const unknownId = (id: string, ids: readonly string[], directory: string): string => {
  const meant = closestMatch(id, ids)
  const hint = meant === undefined ? `The newest is ${ids.at(-1) ?? ''}.` : `Did you mean ${meant}?`
  return `no incident '${id}' in ${directory}; expected an id such as 20260301-125930, or latest.\n(${hint})`
}
