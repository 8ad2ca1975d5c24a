import { chmod, chown, readFile, realpath, stat } from 'node:fs/promises'
import { describeFileError, ifMissing, isNotFound, SourceError } from '../../core/errors.ts'
import { readText } from '../../core/files.ts'
import { LIMITS } from '../../core/limits.ts'
import { type Addition, addSettings } from '../../config/edit.ts'
import { parseConfigFile } from '../../config/file.ts'
import { loadConfig } from '../../config/load.ts'
import type { Config } from '../../config/schema.ts'
import { writeAtomically } from '../../sources/durable.ts'
import { systemdFailure } from '../../health/facts.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, unlessInterrupted, UsageError } from '../../terminal/io.ts'
import { linesText } from '../../terminal/output.ts'
import { confirm, isTerminal, requireTerminal } from '../../terminal/prompt.ts'
import { createStyle } from '../../terminal/style.ts'
import { readFromNode } from '../shared/read-snapshot.ts'
import { type Answers, askFor, checkUrls, entryOf, knownOf, missingOf, withAnswers } from './answers.ts'
import { difference, type Found, foundOn, renderFile, renderFound, renderNext } from './render.ts'

interface Options extends ConfigOptions {
  readonly reference: readonly string[]
  readonly alertmanager: readonly string[]
  readonly publicKey?: string
  readonly output?: string
  readonly yes?: true
  readonly check?: true
}

/** The file is readable for the group of the agent: URLs of references may contain a key. */
const MODE = 0o640
const GROUP = 'chain-agent'

export const init = async (context: ActionContext<Options>): Promise<void> => {
  const { io, exit, options } = context
  const file = options.output ?? io.installedConfig
  if (file === undefined) throw new UsageError('Name the file with --output; - prints it.')
  if (file === '-' && options.check) throw new UsageError('--check compares with a file, and --output - names none.')
  // Fail early: reading takes seconds.
  const present = await readPresent(file)
  const isAsking = present.hasSettings && !options.yes && !options.check
  if (isAsking) requireTerminal(io, '--yes')
  const config = await wantedConfig(context, present.config)
  if (config === null) {
    io.stderr.write('Interrupted; nothing was written.\n')
    exit(1)
    return
  }
  const found = await findOnNode(context, config)
  if (!found) return

  const { text } = present
  const isNew = text.trim() === ''
  const next = isNew ? renderFile(found, io.clock.now()) : addSettings(file, text, additionsTo(present, found, config))
  if (file === '-') {
    io.stdout.write(next)
    exit(0)
    return
  }
  const style = createStyle(io)
  const isChanged = next !== text
  const lines = difference(text, next, style)
  if (isChanged && isAsking) {
    io.stderr.write(linesText(lines))
    if (!(await confirm(io, `Write ${file}?`, '--yes'))) {
      io.stderr.write('Nothing was written.\n')
      exit(1)
      return
    }
  }
  if (isChanged && !options.check) await write(file, next)
  const state = !isChanged ? 'unchanged' : options.check ? 'would change' : 'changed'
  const isShown = !isAsking && (!isNew || options.check)
  io.stdout.write(
    linesText([
      style.paint('strong', `${state}: ${file}`),
      ...(isShown ? lines : []),
      ...renderFound(found, style),
      ...(state === 'changed' ? renderNext(found, style) : []),
    ]),
  )
  exit(state === 'would change' ? 3 : 0)
}

/** The file as it is. */
interface Present {
  readonly text: string
  readonly hasSettings: boolean
  readonly config: Config
  readonly hasPrefix: boolean
}

/** Throws a ConfigError if it is invalid. */
const readPresent = async (file: string): Promise<Present> => {
  const text =
    file === '-'
      ? ''
      : await readText(file, LIMITS.config.fileBytes).catch((error: unknown) => {
          if (isNotFound(error)) return ''
          throw writeFailed(file, error)
        })
  const { config, settings } = loadConfig({ file: parseConfigFile(file, text), env: {}, flags: [] })
  const hasPrefix = settings.some(({ path, origin }) => path === 'prefix' && origin !== 'default')
  return { text, hasSettings: /^(?!\s*(?:#|$))/m.test(text), config, hasPrefix }
}

/** The configuration in force with what the file has and the operator answers. Null if the operator has interrupted it. */
const wantedConfig = async ({ io, options }: ActionContext<Options>, present: Config): Promise<Config | null> => {
  const given: Answers = { references: options.reference, alertmanagers: options.alertmanager }
  checkUrls(given)
  const { publicKey } = options
  const keyed = publicKey === undefined ? options : { ...options, set: [...options.set, `node.publicKey=${publicKey}`] }
  const inForce = configOf(io, keyed).config
  const known = withAnswers(keyed, [knownOf(present), knownOf(inForce)], given)
  const { config } = configOf(io, known)
  const isAnswered = given.references.length > 0 || given.alertmanagers.length > 0
  if (!isTerminal(io) || isAnswered || options.yes === true || options.check === true) return config
  const answers = await askFor(io, knownOf(config))
  return answers && configOf(io, withAnswers(keyed, [knownOf(config)], answers)).config
}

/** Undefined if it was interrupted. */
const findOnNode = async ({ io, exit }: ActionContext<Options>, config: Config): Promise<Found | undefined> => {
  const snapshot = await unlessInterrupted(io, exit, () => readFromNode(io, config))
  if (!snapshot) return undefined
  const found = foundOn(snapshot, config)
  if (found.hasNode) return found
  throw new SourceError({
    doing: 'find the node',
    happened: snapshot.readings.services
      ? `systemd has no unit of a node with the name prefix ${found.prefix ?? 'chain'}`
      : systemdFailure(snapshot),
    advice: 'run it on the host of the node, or name the prefix with --prefix',
  })
}

/** What the file lacks, and what is in force with another value. */
const additionsTo = (present: Present, found: Found, { prefix, node }: Config): readonly Addition[] => {
  const isPrefixWanted = prefix !== 'auto' || !present.hasPrefix
  const presentKey = present.config.node.publicKey
  const key = node.publicKey ?? presentKey ?? found.publicKey
  const { references, alertmanagers } = missingOf(found, knownOf(present.config))
  return [
    ...(isPrefixWanted && found.prefix !== null && found.prefix !== present.config.prefix
      ? [{ path: 'prefix', value: found.prefix }]
      : []),
    ...(key !== null && key !== presentKey ? [{ path: 'node.publicKey', value: key }] : []),
    ...(references.length > 0 ? [{ path: 'references', value: references.map(entryOf) }] : []),
    ...(alertmanagers.length > 0 ? [{ path: 'alertmanagers.urls', value: alertmanagers }] : []),
  ]
}

const writeFailed = (file: string, error: unknown): SourceError =>
  new SourceError(
    { doing: `write ${file}`, ...describeFileError(error), advice: 'use sudo, or name another file with --output' },
    { cause: error },
  )

const write = async (link: string, text: string): Promise<void> => {
  try {
    // A symbolic link stays, and the file that it names is written.
    const file = await realpath(link).catch(ifMissing(link))
    const before = await stat(file).catch(() => null)
    const mode = before === null ? MODE : before.mode & 0o7777
    await writeAtomically(file, [text], { mode, isSynced: true })
    // Whatever the umask: the agent has to read it.
    await chmod(file, mode)
    if (process.getuid?.() === 0) await chown(file, before?.uid ?? 0, before?.gid ?? (await groupId()))
  } catch (error) {
    throw writeFailed(link, error)
  }
}

const groupId = async (): Promise<number> => {
  const groups = await readFile('/etc/group', 'utf8').catch(() => '')
  const [, id] = new RegExp(`^${GROUP}:[^:]*:(\\d+):`, 'm').exec(groups) ?? []
  return Number(id ?? 0)
}
