import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseDocument } from 'yaml'
import { z } from 'zod'

/** From the sources and from the build alike. */
const pathOf = (path: string): string =>
  fileURLToPath(new URL(`../../../../${path}`, import.meta.url))

interface Places {
  readonly targetsFile: string
  /** The address of what the process tells of itself. */
  readonly front: string
}

const schema = z.object({ scrape_configs: z.array(z.looseObject({ job_name: z.string() })) })

/**
 * `deploy/prometheus/fleet.yml` as it is installed, with the targets and rules of here, with this process
 * as one more target, and without an Alertmanager: nobody is to be woken by a rehearsal.
 */
export const readScrapeConfig = async ({ targetsFile, front }: Places): Promise<string> => {
  const document = parseDocument(await readFile(pathOf('deploy/prometheus/fleet.yml'), 'utf8'))
  const jobs = schema.parse(document.toJS()).scrape_configs.map(({ job_name: job }) => job)
  document.set('rule_files', [pathOf('alerts/*.rules.yaml')])
  document.delete('alerting')
  const ours = ['scrape_configs', jobs.indexOf('chain-agent')]
  document.setIn([...ours, 'file_sd_configs'], [{ files: [targetsFile] }])
  document.addIn(['scrape_configs'], {
    job_name: 'chain-fleet',
    static_configs: [{ targets: [new URL(front).host] }],
  })
  return document.toString()
}
