import { figure } from '../../core/format.ts'
import { Command, Option } from 'commander'
import { closestMatch } from '../../core/suggest.ts'
import { type Replayed, replay } from './replay.ts'
import { incidentsOf } from '../../health/incidents/incidents.ts'
import { configOptions, type ConfigOptions, configOf } from '../../cli/config-options.ts'
import { sayInterrupted } from '../../cli/interrupted.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { readMoment } from '../../cli/time-option.ts'
import { createProgress } from '../../cli/terminal/progress.ts'
import { createStyle } from '../../cli/terminal/style.ts'
import { replayAsJson, replayPage } from './page.ts'

interface Options extends ConfigOptions {
  readonly since?: number
  readonly until?: number
  readonly file?: string
  readonly services?: string
  readonly json?: true
  readonly color: boolean
}

/** `chain-agent replay`: what would have fired, and when. */
export const replayCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('replay'))
    .description("what would have fired: the node's journal, through the collectors once more")
    .option(
      '-S, --since <moment>',
      'from when on: 7d, 2026-03-01; a day without it',
      readMoment(io.clock),
    )
    .option('-U, --until <moment>', 'up to when; now without it', readMoment(io.clock))
    .addOption(
      new Option(
        '--file <file>',
        'a recording instead of the journal of this host; - is standard input',
      ),
    )
    .option('--services <names>', 'only these: bft,execution,ledger-tail,rpc …')
    .option('--json', 'as JSON')
    .option('--no-color', 'without colours')
    .addHelpText(
      'after',
      `
The same collectors that the agent runs read the past; every five seconds of it the alert rules are asked
that a journal can decide, with their own figures. What begins within five minutes of each other is one
incident. A recording is what \`journalctl --all -o json\` prints:

  journalctl --all -o json --since -1d -u chain-bft -u chain-execution -u chain-rpc -u chain-ledger-tail

Exit codes: 0 no incident, 1 some, or the past could not be read; 2 it was asked for in a wrong way.

Examples:
  chain-agent replay --since 7d
  chain-agent replay --since "2026-03-01 02:00" --until "2026-03-01 04:00" --services bft,ledger-tail
  chain-agent replay --file night.jsonl --json | jq '.incidents[0]'
  ssh node journalctl --all -o json --since -1h | chain-agent replay --file -`,
    )
    .action(async (options: Options, command: Command) => {
      const { config } = configOf(io, options)
      const services = servicesOf(options.services, Object.keys(config.services.units))
      if (typeof services === 'string') command.error(`error: ${services}`)
      const { since, until, file } = options
      if (since !== undefined && until !== undefined && since >= until) {
        command.error('error: --since is not before --until')
      }
      const progress = createProgress(io)
      const startedAt = io.clock.elapsed()
      let told: Replayed
      try {
        told = await replay({
          config,
          clock: io.clock,
          path: io.env['PATH'] ?? '/usr/bin:/bin',
          signal: io.signal,
          ...(file !== undefined && { file: file === '-' ? io.stdin : file }),
          ...(since !== undefined && { since }),
          ...(until !== undefined && { until }),
          ...(typeof services === 'object' && { services }),
          onProgress: (at, entries) => {
            progress.say(`Looking back: ${new Date(at).toISOString()}, ${figure(entries)} lines`)
          },
          ...io.standIns,
        })
      } catch (error) {
        if (!io.signal.aborted) throw error
        sayInterrupted(io, exit, { isBegun: false })
        return
      } finally {
        progress.end()
      }
      if (!told.isWhole) sayInterrupted(io, exit, { isBegun: told.entries > 0 })
      if (!told.isWhole && told.entries === 0) return
      const incidents = incidentsOf(told.firings)
      const look = { ...told, incidents, tookMs: io.clock.elapsed() - startedAt }
      const lines = options.json
        ? [JSON.stringify(replayAsJson(look), undefined, 2)]
        : replayPage(look, createStyle(io, { color: options.color }))
      io.stdout.write(`${lines.join('\n')}\n`)
      exit(incidents.length === 0 && told.isWhole ? 0 : 1)
    })

/** The names that were asked for; a text where one of them is none, and nothing where none was. */
const servicesOf = (
  text: string | undefined,
  known: readonly string[],
): readonly string[] | string | undefined => {
  const names = text?.split(',').map((name) => name.trim())
  const wrong = names?.find((name) => !known.includes(name))
  if (wrong === undefined) return names
  const meant = closestMatch(wrong, known)
  return `no service '${wrong}'\n(${meant === undefined ? `There are: ${known.join(', ')}` : `Did you mean ${meant}?`})`
}
