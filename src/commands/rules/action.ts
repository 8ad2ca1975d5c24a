import { readFile } from 'node:fs/promises'
import { stringify } from 'yaml'
import { describeFileError, SourceError } from '../../core/errors.ts'
import { packageFile } from '../../core/package.ts'
import { loadFor } from '../../terminal/config.ts'
import { type ActionContext, unlessInterrupted, UsageError, writeAll } from '../../terminal/io.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { createProgress } from '../../terminal/progress.ts'
import { day } from '../../core/units.ts'
import { createHttpClient } from '../../sources/http.ts'
import { authoritiesOf } from '../shared/alert-request.ts'
import { estimateFirings } from './estimate.ts'
import { estimateAsJson, estimatePage } from './estimate-page.ts'
import { createPrometheusApi } from './prometheus.ts'
import { listRenamed } from './renamed.ts'
import type { Config } from '../../config/schema.ts'
import { ruleFiles, type Tuning } from '../../health/rules/index.ts'
import { RENDER_DEFAULTS, renderPrometheusRule, renderRuleFile } from '../../health/rules/render.ts'
import type { RuleFile } from '../../health/rules/rule.ts'
import { alertProblem, readLimits, type WrittenLimits } from '../../health/settings.ts'
import { writeFiles } from '../shared/write-files.ts'

interface RulesOptions extends OutputOptions {
  readonly config?: string
  readonly output?: string
  readonly format: 'prometheus' | 'prometheusrule' | 'template'
  readonly runbooks?: string
  readonly dashboards?: string
  readonly job?: string
  readonly set: readonly string[]
  readonly disable: readonly string[]
  readonly labels?: readonly string[]
  readonly resourceLabel: readonly string[]
  readonly estimate?: string
  readonly days?: number
  readonly renamed?: string
}

/** `chain-agent rules`: writes the rules, or with an option reports what they would do or replace. */
export const runRules = async (context: ActionContext<RulesOptions>): Promise<void> => {
  const { estimate, renamed, json, days } = context.options
  if (days !== undefined && estimate === undefined) throw new UsageError('--days is for --estimate')
  if (json && estimate === undefined && renamed === undefined)
    throw new UsageError('--json is for --estimate and --renamed')
  if (estimate !== undefined) await estimateRules(context, estimate)
  else if (renamed !== undefined) await listRenamed(context, renamed)
  else await writeRules(context)
}

const DEFAULT_DAYS = 30

const estimateRules = async ({ io, exit, options }: ActionContext<RulesOptions>, url: string): Promise<void> => {
  const { config } = loadFor(io, options.config)
  const { job = RENDER_DEFAULTS.job, labels: targetLabels = RENDER_DEFAULTS.targetLabels } = options
  const files = ruleFiles(tuningOf(config.health, options))
  const to = io.clock.now()
  const progress = createProgress(io)
  const estimate = await unlessInterrupted(io, exit, async () => {
    const ask = io.overrides?.ask ?? createHttpClient(io.clock, await authoritiesOf(io, config))
    return estimateFirings({
      api: createPrometheusApi(ask, url, io.signal),
      files,
      from: to - (options.days ?? DEFAULT_DAYS) * day,
      to,
      targets: { job, targetLabels },
      onProgress: progress.show,
    })
  }).finally(progress.end)
  if (!estimate) return
  printResult(
    { io, options },
    { document: () => estimateAsJson(estimate), lines: (style) => estimatePage(estimate, style) },
  )
  exit(estimate.rules.some(({ state }) => state === 'fired' || state === 'silent') ? 0 : 1)
}

const writeRules = async ({ io, exit, options }: ActionContext<RulesOptions>): Promise<void> => {
  const { output, format, runbooks, dashboards, job, labels: targetLabels, resourceLabel } = options
  const { health, prefix } = loadFor(io, options.config).config
  const files = ruleFiles(tuningOf(health, options))
  const template = await readTemplate()
  const links = {
    ...RENDER_DEFAULTS,
    ...(prefix !== 'auto' && { prefix }),
    ...(runbooks !== undefined && { runbooks }),
    ...(dashboards !== undefined && { dashboards }),
    ...(job !== undefined && { job }),
    ...(targetLabels !== undefined && { targetLabels }),
  }
  const labels = Object.fromEntries(resourceLabel.map((text) => splitAt(text, '=')))
  const render = (file: RuleFile, name: string): string =>
    format === 'prometheus' ? renderRuleFile(file, links) : renderPrometheusRule(file, { ...links, name, labels })

  if (format === 'template') {
    if (output !== undefined) throw new UsageError('--format template is one document on stdout: leave out --output')
    await writeAll(io, template)
  } else if (output === undefined) {
    const all = { name: 'all', groups: files.flatMap(({ groups }) => groups) }
    await writeAll(
      io,
      [render(all, 'chain-agent'), ...(format === 'prometheus' ? [] : [renderTemplateMap(template)])].join('---\n'),
    )
  } else {
    const ending = format === 'prometheus' ? '.rules.yaml' : '.prometheusrule.yaml'
    await writeFiles(io, output, {
      ending,
      texts: new Map([
        ...files.map((file) => [`${file.name}${ending}`, render(file, `chain-agent-${file.name}`)] as const),
        format === 'prometheus'
          ? ['chain.tmpl', template]
          : ['chain-agent-templates.configmap.yaml', renderTemplateMap(template)],
      ]),
    })
  }
  exit(0)
}

/** The template of the messages, for Alertmanager. */
const readTemplate = async (): Promise<string> => {
  try {
    return await readFile(packageFile('alerts/chain.tmpl'), 'utf8')
  } catch (error) {
    throw new SourceError({
      doing: 'find the template of the messages',
      happened: describeFileError(error).happened,
      advice: 'install the package again: alerts is part of it',
    })
  }
}

/** A ConfigMap that an Alertmanager of the Prometheus Operator mounts: `configMaps` of its resource. */
const renderTemplateMap = (template: string): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'chain-agent-templates' },
    data: { 'chain.tmpl': template },
  })

/** The tuning of the configuration, overridden by the command line. Throws a UsageError. */
const tuningOf = (health: Config['health'], { set, disable }: RulesOptions): Tuning => {
  const written: Record<string, Record<string, string | number>> = {}
  for (const text of set) {
    const [target, value] = splitAt(text, '=')
    const dot = target.lastIndexOf('.')
    const [alert, setting] = [target.slice(0, dot), target.slice(dot + 1)]
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
