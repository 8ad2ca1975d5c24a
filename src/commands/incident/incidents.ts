import { ParseError, SourceError } from '../../core/errors.ts'
import { type Incident, parseIncident } from '../../parsers/incident.ts'
import { type IncidentFile, listIncidents, readIncidentFile } from '../../sources/incident-files.ts'

/** A stored incident in short, or why it cannot be read. */
export type ListedIncident = IncidentFile &
  ((Pick<Incident, 'firedAt' | 'completedAt'> & { readonly alerts: readonly string[] }) | { readonly error: string })

/** Oldest first. Throws a SourceError. */
export const readIncidents = async (directory: string): Promise<readonly ListedIncident[]> => {
  const listed: ListedIncident[] = []
  // One after the other: each may have megabytes.
  for (const file of await listIncidents(directory)) {
    try {
      const incident = await readIncident(directory, file.id)
      const { firedAt, completedAt, alerts } = incident
      listed.push({ ...file, firedAt, completedAt, alerts: [...new Set(alerts.map(({ alert }) => alert))] })
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      listed.push({ ...file, error: error.happened })
    }
  }
  return listed
}

/** A stored incident. Throws a SourceError. */
export const readIncident = async (directory: string, id: string): Promise<Incident> => {
  const text = await readIncidentFile(directory, id)
  try {
    return parseIncident(text)
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    throw new SourceError(
      {
        doing: `read the incident ${id} in ${directory}`,
        happened: 'it is not complete JSON of an incident: it was truncated, or another version wrote it',
        advice:
          'read the journals of that time: `chain-agent logs SERVICE --since TIME`; the other incidents are intact',
      },
      { cause: error },
    )
  }
}
