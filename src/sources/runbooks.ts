import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { throwFileError } from '../core/errors.ts'
import { withPrefix } from '../core/format.ts'
import { packageFile } from '../core/package.ts'

const DIRECTORY = packageFile('docs/runbooks')

/** The sections of a page for all rows of its alert; each other one is about a `why`, which is its title. */
const COMMON = ['Meaning', 'Impact', 'Diagnosis', 'In Prometheus', 'Mitigation', 'When to escalate', 'Threshold']

/** The `why` of each section of a page that is about one. */
export const whysIn = (page: string): readonly string[] =>
  [...page.matchAll(/^## (.*)$/gm)].flatMap(([, title = '']) => (COMMON.includes(title) ? [] : [whyOf(title)]))

/** A page without the sections about others than this `why`. */
export const withOnly = (why: string, page: string): string =>
  page
    .split(/^(?=## )/m)
    .filter((section) => {
      const [, title] = /^## (.*)/.exec(section) ?? []
      return title === undefined || COMMON.includes(title) || whyOf(title) === why
    })
    .join('')

/** `OOM kill` is `oom-kill`. */
const whyOf = (title: string): string => title.toLowerCase().replaceAll(' ', '-')

/** The runbooks in the package, one for each alert. */
export const runbooks = {
  /** The names of the alerts that have a runbook. Throws a SourceError if the runbooks are missing. */
  list: async (): Promise<readonly string[]> => {
    const advice = 'install the package again: docs/runbooks is part of it'
    const files = await readdir(DIRECTORY).catch(throwFileError({ doing: 'find the runbooks', advice }))
    return files.filter((file) => /^Chain\w+\.md$/.test(file)).map((file) => file.slice(0, -3))
  },
  /** The runbook of an alert of the list, with the name prefix of the node. */
  read: async (name: string, prefix: string): Promise<string> =>
    withPrefix(await readFile(join(DIRECTORY, `${name}.md`), 'utf8'), prefix),
}
