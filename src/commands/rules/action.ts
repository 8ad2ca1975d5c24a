import { loadFor } from '../../terminal/config.ts'
import { type ActionContext, UsageError, writeAll } from '../../terminal/io.ts'
import type { Config } from '../../config/schema.ts'
import { ruleFiles } from '../../health/rules/index.ts'
import { RENDER_DEFAULTS, renderPrometheusRule, renderRuleFile } from '../../health/rules/render.ts'
import type { RuleFile } from '../../health/rules/rule.ts'
import type { Tuning } from '../../health/rules/tuning.ts'
import { alertProblem, readLimits, type WrittenLimits } from '../../health/rules/read-limits.ts'
import { writeFiles } from '../shared/write-files.ts'

interface RulesOptions {
  readonly config?: string
  readonly output?: string
  readonly format: 'prometheus' | 'prometheusrule'
  readonly runbooks?: string
  readonly dashboards?: string
  readonly job?: string
  readonly set: readonly string[]
  readonly disable: readonly string[]
  readonly labels?: readonly string[]
  readonly resourceLabel: readonly string[]
}

export const writeRules = async ({ io, exit, options }: ActionContext<RulesOptions>): Promise<void> => {
  const { output, format, runbooks, dashboards, job, labels: targetLabels, resourceLabel } = options
  const files = ruleFiles(tuningOf(loadFor(io, options.config).config.health, options))
  const links = {
    ...RENDER_DEFAULTS,
    ...(runbooks !== undefined && { runbooks }),
    ...(dashboards !== undefined && { dashboards }),
    ...(job !== undefined && { job }),
    ...(targetLabels !== undefined && { targetLabels }),
  }
  const labels = Object.fromEntries(resourceLabel.map((text) => splitAt(text, '=')))
  const render = (file: RuleFile, name: string): string =>
    format === 'prometheus' ? renderRuleFile(file, links) : renderPrometheusRule(file, { ...links, name, labels })

  if (output === undefined) {
    const all = { name: 'all', groups: files.flatMap(({ groups }) => groups) }
    await writeAll(io, render(all, 'chain-agent'))
  } else {
    const ending = format === 'prometheus' ? '.rules.yaml' : '.prometheusrule.yaml'
    await writeFiles(io, output, {
      ending,
      texts: new Map(files.map((file) => [`${file.name}${ending}`, render(file, `chain-agent-${file.name}`)])),
    })
  }
  exit(0)
}

/** The tuning of the configuration, overridden by the command line. Throws a UsageError. */
const tuningOf = (health: Config['health'], { set, disable }: RulesOptions): Tuning => {
  const written: Record<string, Record<string, string | number>> = {}
  for (const text of set) {
    const [target, value] = splitAt(text, '=')
    const [alert, setting] = splitAt(target, '.')
    written[alert] = { ...health.limits[alert], ...written[alert], [setting]: value }
  }
  const { limits, problems } = readLimits(written satisfies WrittenLimits)
  const complaints = [
    ...problems.map(({ path, message }) => `--set ${path.join('.')}: ${message}`),
    ...disable.flatMap((alert) => {
      const problem = alertProblem(alert)
      return problem === undefined ? [] : [`--disable ${alert}: ${problem}`]
    }),
  ]
  if (complaints.length > 0) throw new UsageError(complaints.join('\n'))
  return { ...health, limits: { ...health.limits, ...limits }, disable: [...health.disable, ...disable] }
}

const splitAt = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator)
  return [text.slice(0, at), text.slice(at + 1)]
}
