import { stringify } from 'yaml'
import { type ActionContext, UsageError, writeAll } from '../../terminal/io.ts'
import { SourceError } from '../../core/errors.ts'
import { closestMatch } from '../../core/suggest.ts'
import { RENDER_DEFAULTS, runbookLink } from '../../health/rules/render.ts'
import { readShipped, writeFiles } from '../shared/write-files.ts'

interface DashboardsOptions {
  readonly name?: string
  readonly output?: string
  readonly format: 'json' | 'configmap'
  readonly runbooks?: string
}

const NAMES = ['agent', 'consensus', 'duties', 'fleet', 'node', 'query-service', 'staking', 'storage'] as const

export const writeDashboards = async ({ io, exit, options }: ActionContext<DashboardsOptions>): Promise<void> => {
  const { name, output, format, runbooks = RENDER_DEFAULTS.runbooks } = options
  if (name !== undefined && output !== undefined)
    throw new UsageError('--output writes all dashboards; leave out the name')
  const render = async (one: string): Promise<string> => {
    const json = await readDashboard(one, runbooks)
    return format === 'json' ? json : renderConfigMap(one, json)
  }

  if (output !== undefined) {
    const ending = format === 'json' ? '.json' : '.configmap.yaml'
    const texts = await Promise.all(NAMES.map(async (one) => [`${one}${ending}`, await render(one)] as const))
    await writeFiles(io, output, { ending, texts: new Map(texts) })
  } else if (name !== undefined) await writeAll(io, await render(knownName(name)))
  else if (format === 'json') io.stdout.write(NAMES.map((one) => `${one}\n`).join(''))
  else await writeAll(io, (await Promise.all(NAMES.map(render))).join('---\n'))
  exit(0)
}

const knownName = (name: string): string => {
  const known = NAMES.find((one) => one === name)
  if (known !== undefined) return known
  const meant = closestMatch(name, NAMES)
  throw new UsageError(
    `no dashboard is called '${name}'; there are: ${NAMES.join(', ')}${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}`,
  )
}

/** The limit that the API server has for the values of a ConfigMap. */
const MAX_CONFIG_MAP_BYTES = 1024 * 1024

/** A ConfigMap that the sidecar of Grafana's Helm charts loads. */
const renderConfigMap = (name: string, json: string): string => {
  const bytes = Buffer.byteLength(json)
  if (bytes > MAX_CONFIG_MAP_BYTES)
    throw new SourceError({
      doing: `write the ConfigMap of the dashboard ${name}`,
      happened: `the dashboard has ${bytes} bytes, and a ConfigMap holds at most ${MAX_CONFIG_MAP_BYTES}`,
      advice: 'use a shorter address in --runbooks, which each link repeats',
    })
  const resource = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `chain-agent-dashboard-${name}`, labels: { grafana_dashboard: '1' } },
    // The sidecar writes the files of all ConfigMaps to one directory.
    data: { [`chain-agent-${name}.json`]: json },
  }
  return stringify(resource, { lineWidth: 0 })
}

/** In links the name of the alert is a word or a variable of Grafana. */
const LINK = new RegExp(`${RENDER_DEFAULTS.runbooks.replaceAll('.', String.raw`\.`)}/(\\w+|\\$\\{[\\w.]+\\})`, 'g')

const readDashboard = async (name: string, runbooks: string): Promise<string> => {
  const text = await readShipped(`dashboards/${name}.json`, 'the dashboards')
  // Within a JSON string.
  return text.replaceAll(LINK, (_, alert: string) => JSON.stringify(runbookLink(runbooks, { alert })).slice(1, -1))
}
