import { Command, Option } from 'commander'
import { duration, figure } from '../../core/format.ts'
import { closestMatch } from '../../core/suggest.ts'
import { replay, type ReplayReport } from './replay.ts'
import { type Incident, incidentsOf } from '../../health/incidents/incidents.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { type ExitCode, type Io, reportInterrupted } from '../../cli/io.ts'
import { readTime } from '../../cli/option-values.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle, type Style, type Tone } from '../../cli/terminal/style.ts'
import { sanitize } from '../../core/sanitize.ts'
import { type Firing, NOT_EVALUATED } from '../../health/incidents/rule-evaluator.ts'
import type { Severity } from '../../health/incidents/rule.ts'
import { wrap } from '../../cli/terminal/layout.ts'

interface ReplayCommandOptions extends ConfigOptions {
  readonly since?: number
  readonly until?: number
  readonly file?: string
  readonly services?: string
  readonly json?: true
  readonly color: boolean
}

/** `chain-agent replay`: which alerts would have fired, and when. */
export const replayCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('replay'))
    .option('-S, --since <moment>', 'start: 7d, 2026-03-01 (default: 1d)', readTime(io.clock))
    .option('-U, --until <moment>', 'end (default: now)', readTime(io.clock))
    .addOption(
      new Option('--file <file>', 'read a recording instead of the journal of this host; - for standard input'),
    )
    .option('--services <names>', 'only these services: bft,execution,ledger-tail,rpc')
    .option('--json', 'as JSON')
    .option('--no-color', 'without colours')
    .addHelpText(
      'after',
      `
Runs the collectors of the agent on past journal entries. Every five seconds of that time it evaluates
the alert rules that need only the journal, with the same thresholds. Alerts that begin within five
minutes of each other are one incident. A recording is the output of \`journalctl --all -o json\`:

  journalctl --all -o json --since -1d -u chain-bft -u chain-execution -u chain-rpc -u chain-ledger-tail

Exit codes: 0 no incident; 1 incidents, or the entries could not be read; 2 usage error.

Examples:
  chain-agent replay --since 7d
  chain-agent replay --since "2026-03-01 02:00" --until "2026-03-01 04:00" --services bft,ledger-tail
  chain-agent replay --file night.jsonl --json | jq '.incidents[0]'
  ssh node journalctl --all -o json --since -1h | chain-agent replay --file -`,
    )
    .action(async (options: ReplayCommandOptions, command: Command) => {
      const { config } = configOf(io, options)
      const services = servicesOf(options.services, Object.keys(config.services.units))
      if (typeof services === 'string') command.error(`error: ${services}`)
      const { since, until, file } = options
      if (since !== undefined && until !== undefined && since >= until) {
        command.error('error: --since is not before --until')
      }
      const progress = createProgress(io)
      const startedAt = io.clock.elapsed()
      let report: ReplayReport
      try {
        report = await replay({
          config,
          clock: io.clock,
          path: io.env['PATH'] ?? '/usr/bin:/bin',
          signal: io.signal,
          ...(file !== undefined && { file: file === '-' ? io.stdin : file }),
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
          ...(typeof services === 'object' && { services }),
          onProgress: (at, entries) => {
            progress.show(`Replaying: ${new Date(at).toISOString()}, ${figure(entries)} lines`)
          },
          ...io.overrides,
        })
      } catch (error) {
        if (!io.signal.aborted) throw error
        reportInterrupted(io, exit, { hasOutput: false })
        return
      } finally {
        progress.end()
      }
      if (!report.isWhole) reportInterrupted(io, exit, { hasOutput: report.entries > 0 })
      if (!report.isWhole && report.entries === 0) return
      const incidents = incidentsOf(report.firings)
      const summary = { ...report, incidents, tookMs: io.clock.elapsed() - startedAt }
      const lines = options.json
        ? [JSON.stringify(replayAsJson(summary), undefined, 2)]
        : replayPage(summary, createStyle(io, { color: options.color }))
      io.stdout.write(`${lines.join('\n')}\n`)
      exit(incidents.length === 0 && report.isWhole ? 0 : 1)
    })

/** The services of --services: undefined without the option, an error message for an unknown name. */
const servicesOf = (text: string | undefined, known: readonly string[]): readonly string[] | string | undefined => {
  const names = text?.split(',').map((name) => name.trim())
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  const suggestion = closestMatch(unknown, known)
  return `no service '${unknown}'\n(${suggestion === undefined ? `Available: ${known.join(', ')}` : `Did you mean ${suggestion}?`})`
}

interface ReplaySummary extends ReplayReport {
  readonly incidents: readonly Incident[]
  readonly tookMs: number
}

/** Width of the longest duration. */
const DURATION_WIDTH = '59 min 59 s'.length

const TONES: Readonly<Record<Severity, Tone>> = { critical: 'bad', warning: 'notice', info: 'quiet' }

/** The number of incidents, the alerts of each, and what was not evaluated. */
const replayPage = (result: ReplaySummary, style: Style): readonly string[] => {
  const { incidents, to, isWhole } = result
  const width = Math.max(0, ...incidents.flatMap(({ firings }) => firings.map((one) => nameOf(one).length)))
  return [
    ...wrap(headline(result), style).map((line) =>
      style.paint(incidents.length === 0 && isWhole ? 'good' : 'strong', line),
    ),
    ...incidents.flatMap(({ firings }) => [
      '',
      ...firings.flatMap((firing, at) => rowOf(firing, { isFirst: at === 0, to, width }, style)),
    ]),
    '',
    ...notesOf(result).flatMap((note) => wrap(style.plain(note), style).map((line) => style.paint('quiet', line))),
  ]
}

const headline = ({ incidents, from, to, isWhole }: ReplaySummary): string => {
  const count = incidents.length
  const fired = incidents.reduce((sum, { firings }) => sum + firings.length, 0)
  const incidentCount = count === 0 ? 'No incident' : count === 1 ? '1 incident' : `${figure(count)} incidents`
  const alerts = count === 0 ? '' : `: ${fired === 1 ? '1 alert' : `${figure(fired)} alerts`}`
  const stopped = isWhole ? '' : ', interrupted'
  return `${incidentCount} in ${duration(to - from)} (${utc(from)} to ${utc(to)}${stopped})${alerts}`
}

interface RowContext {
  /** Whether it is the first of its incident. */
  readonly isFirst: boolean
  /** End of the recording. */
  readonly to: number
  /** Width of the longest name. */
  readonly width: number
}

const rowOf = (firing: Firing, { isFirst, to, width }: RowContext, style: Style): readonly string[] => {
  const { severity, beganAt, endedAt, says } = firing
  const tone = TONES[severity]
  const lasted = endedAt === null ? `${duration(to - beganAt)}, firing` : duration(endedAt - beganAt)
  const head = `${utc(beganAt)}  ${lasted.padEnd(DURATION_WIDTH)}  ${severity.padEnd(8)}  ${nameOf(firing).padEnd(width)}`
  const sign = isFirst ? style.paint(tone, style.sign(tone)) : ' '
  const message = style.plain(sanitize(says))
  if (style.width === undefined) return [`${sign} ${head}  ${message}`]
  const [first = '', ...more] = wrap(head.trimEnd(), style, '  ')
  return [sign + first.slice(1), ...more, ...wrap(message, style, '    ')]
}

/** An event that is not an alert has no name. */
const nameOf = ({ alert }: Firing): string => alert ?? '-'

const notesOf = ({ entries, unreadable, missingServices, knowsOwn, tookMs }: ReplaySummary): readonly string[] => [
  ...(missingServices.length === 0
    ? []
    : [`No line of ${missingServices.join(', ')}: rules that need them were not evaluated.`]),
  ...(unreadable === 0 ? [] : [`${figure(unreadable)} lines were not journal entries.`]),
  `Not evaluated: ${NOT_EVALUATED}${knowsOwn ? '' : '; rounds led by this node (set node.publicKey)'}.`,
  `${figure(entries)} lines read in ${duration(Math.max(1000, tookMs))}.`,
]

const replayAsJson = (result: ReplaySummary) => ({
  from: utc(result.from),
  to: utc(result.to),
  isWhole: result.isWhole,
  incidents: result.incidents.map(({ severity, beganAt, endedAt, firings }) => ({
    severity,
    beganAt: utc(beganAt),
    endedAt: endedAt === null ? null : utc(endedAt),
    alerts: firings.map((firing) => ({
      alert: firing.alert,
      severity: firing.severity,
      subject: firing.subject === '' ? null : firing.subject,
      beganAt: utc(firing.beganAt),
      firedAt: utc(firing.firedAt),
      endedAt: firing.endedAt === null ? null : utc(firing.endedAt),
      says: firing.says,
    })),
  })),
  lines: result.entries,
  unreadable: result.unreadable,
  unheard: result.missingServices,
  knowsOwn: result.knowsOwn,
})

/** To the second: rules are evaluated every five seconds. */
const utc = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`
