import { figure } from '../../core/format.ts'
import { Command, Option } from 'commander'
import { closestMatch } from '../../core/suggest.ts'
import { type ReplayReport, replay } from './replay.ts'
import { incidentsOf } from '../../health/incidents/incidents.ts'
import { configOf, configOptions, type ConfigOptions } from '../../cli/config-options.ts'
import { type ExitCode, type Io, reportInterrupted } from '../../cli/io.ts'
import { readTime } from '../../cli/option-values.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { replayAsJson, replayPage } from './page.ts'

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
