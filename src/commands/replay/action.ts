import { figure } from '../../core/format.ts'
import { closestMatch } from '../../core/suggest.ts'
import { type ReplayReport, replay } from './replay.ts'
import { incidentsOf } from './incidents.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { reportInterrupted, type CommandContext, sourceContext } from '../../terminal/io.ts'
import { createProgress } from '../../terminal/progress.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { replayAsJson, replayPage } from './page.ts'

interface ReplayCommandOptions extends ConfigOptions, OutputOptions {
  readonly since?: number
  readonly until?: number
  readonly file?: string
  readonly services?: string
}

export const replayJournal = async ({
  io,
  exit,
  options,
  command,
}: CommandContext<ReplayCommandOptions>): Promise<void> => {
  const { config } = nodeConfigOf(io, options)
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
      ...sourceContext(io),
      ...(file !== undefined && { file: file === '-' ? io.stdin : file }),
      ...(since !== undefined && { since }),
      ...(until !== undefined && { until }),
      ...(typeof services === 'object' && { services }),
      onProgress: (at, entries) => {
        progress.show(`Replaying: ${new Date(at).toISOString()}, ${figure(entries)} lines`)
      },
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
  printResult({ io, options }, { document: () => replayAsJson(summary), lines: (style) => replayPage(summary, style) })
  exit(incidents.length === 0 && report.isWhole ? 0 : 1)
}

/** The services of --services: undefined without the option, an error message for an unknown name. */
const servicesOf = (text: string | undefined, known: readonly string[]): readonly string[] | string | undefined => {
  const names = text?.split(',').map((name) => name.trim())
  const unknown = names?.find((name) => !known.includes(name))
  if (unknown === undefined) return names
  const suggestion = closestMatch(unknown, known)
  return `no service '${unknown}'\n(${suggestion === undefined ? `Available: ${known.join(', ')}` : `Did you mean ${suggestion}?`})`
}
