import { type Context, withDeadline } from '../../core/collector.ts'
import { ParseError, SourceError } from '../../core/errors.ts'
import { asError } from '../../core/outcome.ts'
import type { Recorder } from '../../core/recorder.ts'
import { type PackageVersion, parseInstalledPackage } from '../../parsers/dpkg.ts'
import { type NodeVersion, parseNodeVersion } from '../../parsers/node-version.ts'
import type { Exec } from '../../sources/exec.ts'

/** What one program or the package says; the error where it says nothing that can be used. */
export type Told<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: Error }

interface Asking {
  readonly exec: Exec
  readonly recorder: Recorder
  readonly context: Context
  /** Each has this long, in milliseconds: one that hangs takes nobody along. */
  readonly timeout: number
}

/** What a program prints for --version. */
export const askProgram = async (command: string, asking: Asking): Promise<Told<NodeVersion>> =>
  told(asking, 'node-version', async (signal) => {
    const { stdout } = await asking.exec.run({ command, args: ['--version'] }, signal)
    return () => parseNodeVersion(stdout)
  })

const FORMAT = '${db:Status-Abbrev} ${Package} ${Version} ${Architecture}\\n'

/** What dpkg knows of a package; null where it is not installed by dpkg. */
export const askPackage = async (
  name: string,
  asking: Asking,
): Promise<Told<PackageVersion | null>> =>
  told(asking, 'dpkg', async (signal) => {
    const { exitCode, stdout, stderr } = await asking.exec.run(
      // 1 says that there is none of that name, or that it went wrong.
      { command: 'dpkg-query', args: ['-W', `-f=${FORMAT}`, name], answers: [0, 1] },
      signal,
    )
    if (exitCode === 0) return () => parseInstalledPackage(stdout)
    if (/no packages? found/i.test(stderr)) return () => null
    throw new SourceError({
      doing: 'ask dpkg for the installed version',
      happened: `exit code ${exitCode}`,
      evidence: stderr,
    })
  })

const told = async <T>(
  { context, timeout, recorder }: Asking,
  format: 'node-version' | 'dpkg',
  ask: (signal: AbortSignal) => Promise<() => T>,
): Promise<Told<T>> => {
  const count = (by: 0 | 1): void => {
    recorder.count('chain_agent_lines_total', by, { format, result: 'unparsed' })
  }
  try {
    const parse = await withDeadline(context, timeout, async ({ signal }) => await ask(signal))
    count(0)
    return { ok: true, value: parse() }
  } catch (thrown) {
    const error = asError(thrown)
    if (error instanceof ParseError) count(1)
    else if (!(error instanceof SourceError)) throw error
    return { ok: false, error }
  }
}
