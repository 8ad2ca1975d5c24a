import { existsSync } from 'node:fs'
import { ParseError, SourceError } from '../../core/errors.ts'
import { capital, count, size, utc } from '../../core/format.ts'
import { hintFor } from '../../core/suggest.ts'
import { minute } from '../../core/units.ts'
import { type Incident, type JournalRange, parseIncident, type UnitLog } from '../../parsers/incident.ts'
import { type IncidentFile, incidentDirectory, listIncidents, readIncidentFile } from '../../sources/incident-files.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { findingLines, headLines } from '../../terminal/diagnosis.ts'
import { UsageError } from '../../terminal/io.ts'
import type { Style } from '../../terminal/style.ts'

export const showIncident = async (context: ConfiguredContext<{ readonly id?: string }>): Promise<void> => {
  const { exit, config, print } = context
  const { id } = context.options
  const directory = incidentDirectory(config.state.directory)
  if (id === undefined) {
    const incidents = await readIncidents(directory)
    const none = incidents.length === 0 ? noIncident(config.state.directory) : null
    print({
      document: () => ({ directory, incidents, noneBecause: none }),
      lines: (style) =>
        none === null ? listLines(incidents, directory, style) : style.paragraph('strong', capital(none)),
    })
  } else {
    const ids = (await listIncidents(directory)).map((file) => file.id)
    const wanted = id === 'latest' ? ids.at(-1) : id
    if (wanted === undefined || !ids.includes(wanted))
      throw new UsageError(ids.length === 0 ? noIncident(config.state.directory) : unknownId(id, ids, directory))
    const incident = await readIncident(directory, wanted)
    print({ document: () => incident, lines: (style) => incidentLines(incident, style) })
  }
  exit(0)
}

/** Without the directory of its state, no agent has run, and nothing is known. */
const noIncident = (stateDirectory: string): string =>
  existsSync(stateDirectory)
    ? `no incident is kept in ${incidentDirectory(stateDirectory)}; the agent keeps one when a critical alert fires.`
    : `no agent has run here with this configuration: there is no ${stateDirectory}.`

const unknownId = (id: string, ids: readonly string[], directory: string): string =>
  `no incident '${id}' in ${directory}; expected an id such as 20260301-125930, or latest.${hintFor(id, ids, `The newest is ${ids.at(-1) ?? ''}.`)}`

const listLines = (listed: readonly ListedIncident[], directory: string, style: Style): readonly string[] => [
  ...style.paragraph('strong', `${count(listed.length, 'incident')} in ${directory}, the newest first:`),
  ...style.pairs(listed.toReversed().map((one) => [one.id, summaryOf(one)])),
  'Print one: chain-agent incident ID, or latest',
]

const summaryOf = (one: ListedIncident): string =>
  'error' in one
    ? `cannot be read: ${one.error}`
    : [one.alerts.join(', '), size(one.bytes), ...(one.completedAt === null ? ['incomplete'] : [])].join('; ')

const incidentLines = (incident: Incident, style: Style): readonly string[] => {
  const { id, agent, alerts, diagnosis, tools } = incident
  const heading = (text: string): string => style.paint('strong', text)
  return [
    heading(`Incident ${id}, kept by chain-agent ${agent}`),
    ...style.wrap(completeness(incident)),
    '',
    heading('Alerts'),
    ...alerts.flatMap(({ alert, description, ...times }) => [
      `${style.paint('bad', style.sign('bad'))} ${alert}`,
      ...style.wrap(description, '    '),
      ...style.wrap(timesOf(times), '    '),
    ]),
    '',
    heading('Diagnosis when it fired'),
    ...headLines({ ...diagnosis, incident: null }, style),
    '',
    ...findingLines(diagnosis.causes, style),
    ...tools.flatMap(({ command, at, output }) => [
      heading(`Last output of ${command}, ${at}`),
      ...output
        .trimEnd()
        .split('\n')
        .map((line) => `  ${line}`.trimEnd()),
      '',
    ]),
    ...journalLines(incident, style),
  ]
}

/** Later than this, journald may have deleted a part. */
const LATE = 5 * minute

const completeness = ({ firedAt, completedAt, journals }: Incident): string => {
  const last = journals.reduce((latest, { toAt }) => Math.max(latest, Date.parse(toAt)), Date.parse(firedAt))
  if (completedAt === null) {
    return `Incomplete: the journals until ${utc(last)} are still to be read. An agent that was stopped reads them at its next start.`
  }
  return Date.parse(completedAt) - last > LATE
    ? `Complete since ${completedAt}, after a restart of the agent: lines that journald had deleted by then are missing.`
    : `Complete since ${completedAt}.`
}

const timesOf = ({ sinceAt, firedAt, endedAt }: Pick<Incident['alerts'][number], 'sinceAt' | 'firedAt' | 'endedAt'>) =>
  `Condition since ${sinceAt}, fired ${firedAt}${endedAt === null ? '' : `, ended ${endedAt}`}.`

/** By unit, each from the first range to the last. */
const journalLines = ({ journals }: Incident, style: Style): readonly string[] => {
  const units = new Set(journals.flatMap(({ units: logs }) => logs?.map(({ unit }) => unit) ?? []))
  return [...units].flatMap((unit) => [
    style.paint('strong', `Journal of ${unit}`),
    ...journals.flatMap((range) =>
      (range.units ?? []).filter((log) => log.unit === unit).flatMap((log) => rangeLines(range, log, style)),
    ),
    '',
  ])
}

const rangeLines = ({ fromAt, toAt, keep }: JournalRange, log: UnitLog, style: Style): readonly string[] => {
  const note = (text: string): readonly string[] => style.paragraph('quiet', `-- ${text} --`, '  ')
  const cut = log.isCut
    ? note(`${keep === 'newest' ? 'earlier' : 'later'} lines are not kept: there were too many`)
    : []
  const lines = log.lines.map((line) => `  ${line}`.trimEnd())
  return [
    ...note(`${fromAt} to ${toAt}${lines.length === 0 && log.error === null ? ': no line' : ''}`),
    ...(log.error === null ? [] : style.wrap(log.error, '  ')),
    ...(keep === 'newest' ? cut : []),
    ...lines,
    ...(keep === 'oldest' ? cut : []),
  ]
}

/** A stored incident in short, or why it cannot be read. */
type ListedIncident = IncidentFile &
  ((Pick<Incident, 'firedAt' | 'completedAt'> & { readonly alerts: readonly string[] }) | { readonly error: string })

/** Oldest first. Throws a SourceError. */
const readIncidents = async (directory: string): Promise<readonly ListedIncident[]> => {
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
