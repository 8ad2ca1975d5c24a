import { chmod, chown, readFile, realpath, stat } from 'node:fs/promises'
import { describeFileError, ifMissing, isNotFound, SourceError } from '../../core/errors.ts'
import { readText } from '../../core/files.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Config } from '../../config/schema.ts'
import { writeAtomically } from '../../sources/durable.ts'
import { systemdFailure } from '../../health/facts.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, type Io, unlessInterrupted, UsageError } from '../../terminal/io.ts'
import { isTerminal, withDialogue } from '../../terminal/prompt.ts'
import { createStyle } from '../../terminal/style.ts'
import { readFromNode } from '../shared/read-snapshot.ts'
import { foundOn, renderFile, renderFound } from './render.ts'

interface Options extends ConfigOptions {
  readonly reference: readonly string[]
  readonly output?: string
}

/** The file is readable for the group of the agent: URLs of references may contain a key. */
const MODE = 0o640
const GROUP = 'chain-agent'

export const init = async ({ io, exit, options }: ActionContext<Options>): Promise<void> => {
  const file = options.output ?? io.installedConfig
  if (file === undefined) throw new UsageError('Name the file with --output; - prints it.')
  // Fail early: reading takes seconds.
  if (file !== '-') await checkReplaceable(file)
  const urls = options.reference.length > 0 || !isTerminal(io) ? options.reference : await askForReferences(io)
  if (urls === null) {
    io.stderr.write('Interrupted; nothing was written.\n')
    exit(1)
    return
  }
  const config = configWith(io, options, urls)
  const snapshot = await unlessInterrupted(io, exit, () => readFromNode(io, config))
  if (!snapshot) return
  const found = foundOn(snapshot, config)
  if (!found.hasNode) {
    throw new SourceError({
      doing: 'find the node',
      happened: snapshot.readings.services
        ? `systemd has no unit of a node with the name prefix ${found.prefix ?? 'chain'}`
        : systemdFailure(snapshot),
      advice: 'run it on the host of the node, or name the prefix with --prefix',
    })
  }
  const text = renderFile(found, io.clock.now())
  if (file === '-') io.stdout.write(text)
  else {
    await write(file, text)
    io.stdout.write(renderFound(file, found, createStyle(io)))
  }
  exit(0)
}

const checkReplaceable = async (file: string): Promise<void> => {
  const text = await readText(file, LIMITS.config.fileBytes).catch((error: unknown) => {
    if (isNotFound(error)) return ''
    throw writeFailed(file, error)
  })
  if (/^(?!\s*(?:#|$))/m.test(text))
    throw new UsageError(
      `${file} has settings: \`chain-agent config\` prints them. Use --output with another file, or - to print a new one.`,
    )
}

/** Null if the operator has interrupted it. */
const askForReferences = async (io: Io): Promise<readonly string[] | null> => {
  io.stderr.write(
    'RPC URLs of other nodes of the same chain, at least two so that they can agree; an empty line ends.\n',
  )
  return withDialogue(io, async (ask) => {
    const urls: string[] = []
    for (;;) {
      const url = await ask(`Reference ${urls.length + 1}: `)
      if (url === null) return null
      if (url === '') return urls
      if (isUrl(url)) urls.push(url)
      else io.stderr.write('Expected a URL, like https://rpc.provider.example\n')
    }
  })
}

const isUrl = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text)

/** Each with the name of its host, in the characters that a name may have; a second one of the same name gets a number. */
const referencesAt = (urls: readonly string[]): readonly { name: string; url: string }[] => {
  const names: string[] = []
  return urls.map((url) => {
    if (!isUrl(url)) throw new UsageError(`--reference ${url}: expected a URL, like https://rpc.provider.example`)
    const { hostname } = new URL(url)
    const stem = hostname.replaceAll(/[^a-z\d.]+/gi, '-').replaceAll(/^-+|-+$/g, '') || 'reference'
    names.push(stem)
    const same = names.filter((name) => name === stem).length
    return { name: same === 1 ? stem : `${stem}-${same}`, url }
  })
}

/** The configuration in force, with these references: they are read once, so that the result shows which of them answer. */
const configWith = (io: Io, options: Options, urls: readonly string[]): Config => {
  const references = referencesAt(urls)
  const set = references.length === 0 ? [] : [`references=${JSON.stringify(references)}`]
  return configOf(io, { ...options, set: [...options.set, ...set] }).config
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
