import { type ActionContext, type Io, searchPath } from '../../terminal/io.ts'
import { createStyle } from '../../terminal/style.ts'
import { withDeadline } from '../../core/clock.ts'
import { ConfigError, ifUnreadable } from '../../core/errors.ts'
import { closestMatch } from '../../core/suggest.ts'
import { second } from '../../core/units.ts'
import { createPrefix, type Prefix } from '../../sources/prefix.ts'
import { runbooks, whysIn, withOnly } from '../../sources/runbooks.ts'

interface RunbookOptions {
  readonly alert?: string
  readonly config?: string
  readonly prefix?: string
}

export const printRunbook = async ({ io, exit, options }: ActionContext<RunbookOptions>): Promise<void> => {
  // As rules/rule.ts, whose rules are not loaded for a name.
  const [name, why] = options.alert?.split('.') ?? []
  const names = await runbooks.list()
  const fail = (wanted: string, meant: string | undefined): void => {
    const hint = meant === undefined ? '' : `\n(Did you mean ${meant}?)`
    io.stderr.write(`error: no runbook for '${wanted}'.${hint}\n`)
    exit(2)
  }
  if (name === undefined) {
    io.stdout.write(names.map((one) => `${one}\n`).join(''))
    exit(0)
  } else if (names.includes(name)) {
    const { word, from } = await findPrefix(io, await configuredPrefix(io, options))
    const page = await runbooks.read(name, word)
    const whys = whysIn(page).map((one) => `${name}.${one}`)
    if (why !== undefined && !whys.includes(`${name}.${why}`)) {
      fail(`${name}.${why}`, closestMatch(`${name}.${why}`, whys) ?? name)
      return
    }
    if (from === 'default')
      io.stderr.write(`No node was found on this host: names have the prefix ${word}. Set another one with --prefix.\n`)
    io.stdout.write(createStyle(io).plain(why === undefined ? page : withOnly(why, page)))
    exit(0)
  } else fail(name, closestMatch(name, names))
}

/** A runbook is readable with an installed configuration that is invalid, or that this user may not read. */
const configuredPrefix = async (io: Io, { config: file, prefix }: RunbookOptions): Promise<string> => {
  const flags = prefix === undefined ? [] : [{ path: 'prefix', value: prefix, typed: '--prefix' }]
  const { loadFor } = await import('../../terminal/config.ts')
  try {
    return loadFor(io, file, flags).config.prefix
  } catch (error) {
    if (!(error instanceof ConfigError) || file !== undefined || prefix !== undefined) throw error
    return 'auto'
  }
}

/** The operator is waiting for the text. */
const TIMEOUT = 2 * second

const findPrefix = async ({ clock, env, signal, overrides }: Io, configured: string): Promise<Prefix> => {
  if (configured !== 'auto') return { word: configured, from: 'configuration' }
  const path = searchPath({ env })
  const { createExec } = await import('../../sources/exec.ts')
  const readPrefix = createPrefix({ exec: overrides?.exec ?? createExec({ clock, path }), path, configured })
  return withDeadline({ clock, signal }, TIMEOUT, (context) => readPrefix(context.signal)).catch(
    ifUnreadable(() => ({ word: 'chain', from: 'default' })),
  )
}
