import { existsSync } from 'node:fs'
import { capital, count, size, utc } from '../../core/format.ts'
import { closestMatch } from '../../core/suggest.ts'
import { minute } from '../../core/units.ts'
import type { Incident, JournalRange, UnitLog } from '../../parsers/incident.ts'
import { incidentDirectory, listIncidents } from '../../sources/incident-files.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { configOf } from '../../terminal/config.ts'
import { findingLines, headLines } from '../../terminal/diagnosis.ts'
import { type ActionContext, UsageError } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { pairs, type Style, wrap } from '../../terminal/style.ts'
import { type ListedIncident, readIncident, readIncidents } from './incidents.ts'

interface Options extends ConfigOptions, OutputOptions {
  readonly id?: string
}

export const showIncident = async (context: ActionContext<Options>): Promise<void> => {
  const { io, exit, options } = context
  const { config } = configOf(io, options)
  const directory = incidentDirectory(config.state.directory)
  const { id } = options
  if (id === undefined) {
    const incidents = await readIncidents(directory)
    const none = incidents.length === 0 ? noIncident(config.state.directory) : null
    printResult(context, {
      document: () => ({ directory, incidents, noneBecause: none }),
      lines: (style) => (none === null ? listLines(incidents, directory, style) : strongLines(capital(none), style)),
    })
  } else {
    const ids = (await listIncidents(directory)).map((file) => file.id)
    const wanted = id === 'latest' ? ids.at(-1) : id
    if (wanted === undefined || !ids.includes(wanted))
      throw new UsageError(ids.length === 0 ? noIncident(config.state.directory) : unknownId(id, ids, directory))
    const incident = await readIncident(directory, wanted)
    printResult(context, { document: () => incident, lines: (style) => incidentLines(incident, style) })
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

const strongLines = (text: string, style: Style): readonly string[] =>
  wrap(text, style).map((line) => style.paint('strong', line))

const listLines = (listed: readonly ListedIncident[], directory: string, style: Style): readonly string[] => [
  ...strongLines(`${count(listed.length, 'incident')} in ${directory}, the newest first:`, style),
  ...pairs(
    listed.toReversed().map((one) => [one.id, summaryOf(one)]),
    style,
  ),
  'Print one: chain-agent incident ID, or latest',
]

const summaryOf = (one: ListedIncident): string =>
  'error' in one
    ? `cannot be read: ${one.error}`
    : [one.alerts.join(', '), size(one.bytes), ...(one.completedAt === null ? ['incomplete'] : [])].join('; ')

const incidentLines = (incident: Incident, style: Style): readonly string[] => {
  const { id, agent, alerts, diagnosis, changes, tools } = incident
  const heading = (text: string): string => style.paint('strong', text)
  return [
    heading(`Incident ${id}, kept by chain-agent ${agent}`),
    ...wrap(completeness(incident), style),
    '',
    heading('Alerts'),
    ...alerts.flatMap(({ alert, description, ...times }) => [
      `${style.paint('bad', style.sign('bad'))} ${alert}`,
      ...wrap(description, style, '    '),
      ...wrap(timesOf(times), style, '    '),
    ]),
    '',
    heading('Diagnosis when it fired'),
    ...headLines({ ...diagnosis, incident: null }, style),
    '',
    ...findingLines(diagnosis.causes, style),
    ...(changes.length === 0
      ? []
      : [
          heading('What changed most against the hour before'),
          ...changes.flatMap((change) => wrap(change, style, '  ')),
          '',
        ]),
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
  const note = (text: string): readonly string[] =>
    wrap(`-- ${text} --`, style, '  ').map((line) => style.paint('quiet', line))
  const cut = log.isCut
    ? note(`${keep === 'newest' ? 'earlier' : 'later'} lines are not kept: there were too many`)
    : []
  const lines = log.lines.map((line) => `  ${line}`.trimEnd())
  return [
    ...note(`${fromAt} to ${toAt}${lines.length === 0 && log.error === null ? ': no line' : ''}`),
    ...(log.error === null ? [] : wrap(log.error, style, '  ')),
    ...(keep === 'newest' ? cut : []),
    ...lines,
    ...(keep === 'oldest' ? cut : []),
  ]
}
