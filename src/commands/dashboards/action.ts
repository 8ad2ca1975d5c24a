import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ActionContext, UsageError, writeAll } from '../../cli/io.ts'
import { describeFileError, SourceError } from '../../core/errors.ts'
import { packageFile } from '../../core/package.ts'
import { closestMatch } from '../../core/suggest.ts'
import { RENDER_DEFAULTS, runbookLink } from '../../health/rules/render.ts'
import { writeFiles } from '../shared/write-files.ts'

export interface DashboardsOptions {
  readonly name?: string
  readonly output?: string
  readonly runbooks?: string
}

const NAMES = ['agent', 'consensus', 'duties', 'fleet', 'node', 'query-service', 'storage'] as const

const DIRECTORY = packageFile('dashboards')

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
  else {
    const known = NAMES.find((one) => one === name)
    if (known === undefined) {
      const meant = closestMatch(name, NAMES)
      throw new UsageError(
        `no dashboard is called '${name}'; there are: ${NAMES.join(', ')}${meant === undefined ? '' : `\n(Did you mean ${meant}?)`}`,
      )
    }
    await writeAll(io, await readDashboard(known, runbooks))
  }
  exit(0)
}

/** In links the name of the alert is a word or a variable of Grafana. */
const LINK = new RegExp(`${RENDER_DEFAULTS.runbooks.replaceAll('.', String.raw`\.`)}/(\\w+|\\$\\{[\\w.]+\\})`, 'g')

const readDashboard = async (name: string, runbooks: string): Promise<string> => {
  try {
    const text = await readFile(join(DIRECTORY, `${name}.json`), 'utf8')
    // Within a JSON string.
    return text.replaceAll(LINK, (_, alert: string) => JSON.stringify(runbookLink(runbooks, alert)).slice(1, -1))
  } catch (error) {
    throw new SourceError({
      doing: 'find the dashboards',
      happened: describeFileError(error).happened,
      advice: 'install the package again: dashboards is part of it',
    })
  }
}
