import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describeFileError, SourceError } from '../core/errors.ts'
import { withPrefix } from '../core/format.ts'
import { packageFile } from '../core/package.ts'

/** The runbooks in the package, one for each alert. */
export interface Runbooks {
  /** The names of the alerts that have a runbook. Throws a SourceError if the runbooks are missing. */
  list(): Promise<readonly string[]>
  /** The runbook of an alert of the list, with the name prefix of the node. */
  read(name: string, prefix: string): Promise<string>
}

const DIRECTORY = packageFile('docs/runbooks')

export const createRunbooks = (directory = DIRECTORY): Runbooks => {
  const list = async (): Promise<readonly string[]> => {
    try {
      const files = await readdir(directory)
      return files.filter((file) => /^Chain\w+\.md$/.test(file)).map((file) => file.slice(0, -3))
    } catch (error) {
      throw new SourceError({
        doing: 'find the runbooks',
        happened: describeFileError(error).happened,
        advice: 'install the package again: docs/runbooks is part of it',
      })
    }
  }
  return {
    list,
    read: async (name, prefix) => withPrefix(await readFile(join(directory, `${name}.md`), 'utf8'), prefix),
  }
}
