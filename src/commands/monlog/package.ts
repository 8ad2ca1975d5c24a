import { type Context, withDeadline } from '../../core/collector.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { parseInstalledPackage } from '../../parsers/dpkg.ts'
import type { Exec } from '../../sources/exec.ts'

interface Asking {
  readonly exec: Exec
  readonly context: Context
  readonly timeout: number
}

const FORMAT = '${db:Status-Abbrev} ${Package} ${Version} ${Architecture} ${binary:Summary}\\n'

/** The line that dpkg has of a package; null where it has none, or does not answer. */
export const packageLine = async (name: string, asking: Asking): Promise<string | null> => {
  const { exec, context, timeout } = asking
  try {
    const { stdout } = await withDeadline(context, timeout, ({ signal }) =>
      exec.run({ command: 'dpkg-query', args: ['-W', `-f=${FORMAT}`, name] }, signal),
    )
    const [row = ''] = stdout.split('\n')
    return parseInstalledPackage(row) === null ? null : row.replaceAll(/\s+/g, ' ').trim()
  } catch (error) {
    // One fact less: the report is about the log.
    if (error instanceof SourceError || error instanceof ParseError) return null
    throw error
  }
}
