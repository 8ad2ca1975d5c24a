import { type ActionContext, UsageError, writeAll } from '../../terminal/io.ts'
import { RENDER_DEFAULTS, runbookLink } from '../../health/rules/render.ts'
import { readShipped, writeFiles } from '../shared/write-files.ts'
import { NAMES } from './names.ts'

interface DashboardsOptions {
  readonly name?: string
  readonly output?: string
  readonly runbooks?: string
}

export const writeDashboards = async ({ io, exit, options }: ActionContext<DashboardsOptions>): Promise<void> => {
  const { name, output, runbooks = RENDER_DEFAULTS.runbooks } = options
  if (name !== undefined && output !== undefined)
    throw new UsageError('--output writes all dashboards; leave out the name')
  if (output !== undefined) {
    const texts = await Promise.all(
      NAMES.map(async (one) => [`${one}.json`, await readDashboard(one, runbooks)] as const),
    )
    await writeFiles(io, output, { ending: '.json', texts: new Map(texts) })
  } else if (name === undefined) io.stdout.write(NAMES.map((one) => `${one}\n`).join(''))
  else await writeAll(io, await readDashboard(name, runbooks))
  exit(0)
}

/** In links the name of the alert is a word or a variable of Grafana. */
const LINK = new RegExp(`${RENDER_DEFAULTS.runbooks.replaceAll('.', String.raw`\.`)}/(\\w+|\\$\\{[\\w.]+\\})`, 'g')

const readDashboard = async (name: string, runbooks: string): Promise<string> => {
  const text = await readShipped(`dashboards/${name}.json`, 'the dashboards')
  // Within a JSON string.
  return text.replaceAll(LINK, (_, alert: string) => JSON.stringify(runbookLink(runbooks, { alert })).slice(1, -1))
}
