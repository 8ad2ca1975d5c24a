import { chmod, chown, readFile, realpath, stat } from 'node:fs/promises'
import { fileError, ifMissing, isNotFound, SourceError } from '../../core/errors.ts'
import { readText } from '../../core/files.ts'
import { LIMITS } from '../../core/limits.ts'
import { type Addition, addSettings } from '../../config/edit.ts'
import { parseConfigFile } from '../../config/file.ts'
import { loadConfig } from '../../config/load.ts'
import { inlineYaml } from '../../config/render.ts'
import type { Config } from '../../config/schema.ts'
import { writeAtomically } from '../../sources/durable.ts'
import { systemdFailure } from '../../health/facts.ts'
import { configOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import {
  type ActionContext,
  InterruptedError,
  type Io,
  isTerminal,
  unlessInterrupted,
  UsageError,
} from '../../terminal/io.ts'
import { linesText } from '../../terminal/output.ts'
import { confirm, requireTerminal, withDialogue } from '../../terminal/prompt.ts'
import type { Tone } from '../../domain/health.ts'
import { createStyle, type Style } from '../../terminal/style.ts'
import { readFromNode } from '../shared/read-snapshot.ts'
import { redactUrl } from '../../core/redaction/redact.ts'
import { notificationsOf } from '../../health/notifications.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { capital, figure, joinList } from '../../core/format.ts'
import { packageFile } from '../../core/package.ts'

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
  const found = await findOnNode(io, config)

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

type Present = Awaited<ReturnType<typeof readPresent>>

/** The file as it is. Throws a ConfigError if it is invalid. */
const readPresent = async (file: string) => {
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

/** The configuration in force with what the file has and the operator answers. */
const wantedConfig = async ({ io, options }: ActionContext<Options>, present: Config): Promise<Config> => {
  const { publicKey, reference: references, alertmanager: alertmanagers } = options
  const given: Answers = { references, alertmanagers }
  checkUrls(given)
  const set = publicKey === undefined ? options.set : [...options.set, `node.publicKey=${publicKey}`]
  const load = (settings: readonly string[]): Config => configOf(io, { ...options, set: [...set, ...settings] }).config
  const config = load(settingsOf([present, load([])], given))
  const isAnswered = references.length > 0 || alertmanagers.length > 0
  if (!isTerminal(io.stdin) || isAnswered || options.yes === true || options.check === true) return config
  return load(settingsOf([config], await askFor(io, config)))
}

const findOnNode = async (io: Io, config: Config): Promise<Found> => {
  const snapshot = await unlessInterrupted(io, () => readFromNode(io, config))
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
  const known = present.config
  const references = found.references.filter((one) => !known.references.some((other) => isSame(one, other)))
  const urls = found.alertmanagers.filter((url) => !known.alertmanagers.urls.some((other) => isSameUrl(url, other)))
  return [
    ...(isPrefixWanted && found.prefix !== null && found.prefix !== present.config.prefix
      ? [{ path: 'prefix', value: found.prefix }]
      : []),
    ...(key !== null && key !== presentKey ? [{ path: 'node.publicKey', value: key }] : []),
    ...(references.length > 0 ? [{ path: 'references', value: references.map(entryOf) }] : []),
    ...(urls.length > 0 ? [{ path: 'alertmanagers.urls', value: urls }] : []),
  ]
}

const writeFailed = (file: string, error: unknown): SourceError =>
  fileError(error, { doing: `write ${file}`, advice: 'use sudo, or name another file with --output' })

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

type Reference = Config['references'][number]

/** What an operator answers: URLs. */
interface Answers {
  readonly references: readonly string[]
  readonly alertmanagers: readonly string[]
}

const QUESTIONS = {
  references: {
    label: 'Reference',
    example: 'https://rpc.provider.example',
    text: 'RPC URLs of other nodes of the same chain, at least two so that they can agree; an empty line ends.\n',
  },
  alertmanagers: {
    label: 'Alertmanager',
    example: 'http://127.0.0.1:9093',
    text: 'URLs of the Alertmanagers to which the agent sends its alerts; an empty line ends.\n',
  },
}

/** Throws a UsageError for an answer that is no URL. */
const checkUrls = (answers: Answers): void => {
  for (const name of ['references', 'alertmanagers'] as const) {
    const { label, example } = QUESTIONS[name]
    const wrong = answers[name].find((url) => !isUrl(url))
    if (wrong !== undefined) throw new UsageError(`--${label.toLowerCase()} ${wrong}: expected a URL, like ${example}`)
  }
}

const isUrl = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text)

/** Asks for what is not known. Throws an InterruptedError at the end of the input, too. */
const askFor = async (io: Io, known: Config): Promise<Answers> =>
  withDialogue(io, async (ask) => {
    const askUrls = async (name: keyof Answers): Promise<readonly string[]> => {
      const { label, example, text } = QUESTIONS[name]
      const urls: string[] = []
      io.stderr.write(text)
      for (;;) {
        const url = await ask(`${label} ${urls.length + 1}: `)
        if (url === null) throw new InterruptedError('Interrupted; nothing was written.')
        if (url === '') return urls
        if (isUrl(url)) urls.push(url)
        else io.stderr.write(`Expected a URL, like ${example}\n`)
      }
    }
    return {
      references: known.references.length >= 2 ? [] : await askUrls('references'),
      alertmanagers: known.alertmanagers.urls.length > 0 ? [] : await askUrls('alertmanagers'),
    }
  })

/** All that is known and answered: all references are read once, so that the result shows which of them answer. */
const settingsOf = (known: readonly Config[], answers: Answers): readonly string[] => {
  const references = unite([
    ...known.flatMap((one) => one.references),
    ...answers.references.map((url) => ({ name: nameOf(url), url, kind: 'rpc' as const, apiKeyFile: null })),
  ])
  const urls = [...known.flatMap((one) => one.alertmanagers.urls), ...answers.alertmanagers]
  const alertmanagers = urls.filter((url, at) => urls.findIndex((other) => isSameUrl(url, other)) === at)
  return [
    ...(references.length === 0 ? [] : [`references=${JSON.stringify(references.map(entryOf))}`]),
    ...(alertmanagers.length === 0 ? [] : [`alertmanagers.urls=${JSON.stringify(alertmanagers)}`]),
  ]
}

const isSameUrl = (url: string, other: string): boolean => new URL(url).href === new URL(other).href

const isSame = (one: Reference, other: Reference): boolean => one.kind === other.kind && isSameUrl(one.url, other.url)

/** Each reference once. A second one of the same name gets a number. */
const unite = (references: readonly Reference[]): readonly Reference[] => {
  const united: Reference[] = []
  for (const reference of references) {
    if (united.some((one) => isSame(one, reference))) continue
    const names = united.map(({ name }) => name)
    let name = reference.name
    for (let number = 2; names.includes(name); number += 1) name = `${reference.name}-${number}`
    united.push({ ...reference, name })
  }
  return united
}

/** The name of the host, in the characters that a name may have. */
const nameOf = (url: string): string =>
  new URL(url).hostname.replaceAll(/[^a-z\d.]+/gi, '-').replaceAll(/^-+|-+$/g, '') || 'reference'

type Found = ReturnType<typeof foundOn>

/** What is found on the host of a node. */
const foundOn = (snapshot: NodeSnapshot, config: Config) => {
  const { prefix, readings, collectors } = snapshot
  const reported = readings.status?.config.secpPublicKey ?? null
  const publicKey = config.node.publicKey ?? reported
  const loaded = (readings.services?.services ?? []).filter(({ loadState }) => loadState === 'loaded')
  return {
    prefix,
    /** That of the configuration, else of the status report; null if neither has it. */
    publicKey,
    /** The one of the status report, if the configuration has another. */
    otherKey: reported === publicKey ? null : reported,
    whyNoKey: collectors.find(({ name }) => name === 'status')?.error?.message ?? 'the status report does not have it',
    hasNode: loaded.some(({ service }) => service === 'bft' || service === 'execution'),
    /** Units that systemd has loaded, with their state. */
    units: loaded.flatMap(({ unit, activeState }) =>
      unit === null ? [] : [{ name: unit, state: activeState ?? 'unknown' }],
    ),
    devices: (readings.storage?.devices ?? []).flatMap(({ path }) => (path === null ? [] : [path])),
    references: config.references,
    /** Name → the answer of the reference. */
    answers: new Map(
      (readings.reference?.references ?? []).map(({ name, blockNumber, state }) => [
        name ?? '',
        blockNumber === null ? (state ?? 'no answer') : `block ${figure(blockNumber)}`,
      ]),
    ),
    alertmanagers: config.alertmanagers.urls,
    /** Which receivers are notified. */
    notifications: notificationsOf(snapshot).text,
  }
}

const REFERENCE_HINT = 'without two references it is unknown whether the node is behind the network'

/** The file: settings that cannot be found without it, or that should not change by themselves. */
const renderFile = (found: Found, at: number): string => {
  const { prefix, publicKey, units, devices, references, alertmanagers } = found
  const list = references.map((reference) => inlineYaml(entryOf(reference)))
  return linesText([
    `# Written by \`chain-agent init\` at ${new Date(at).toISOString()}.`,
    '# Every key, with its default: chain-agent config --example. What is in force: chain-agent config.',
    '',
    '# Found at each start, and not set here:',
    ...units.map(({ name, state }) => `#   ${name} (${state})`),
    ...devices.map((device) => `#   database on ${device}`),
    '',
    ...(prefix === null ? ['#prefix: auto'] : [`prefix: ${inlineYaml(prefix)}`]),
    '',
    '# The secp public key of the node: identifies its own blocks and timeouts.',
    ...(publicKey === null
      ? [`# Not found: ${hintFor(prefix)}.`, '#node:', '#  publicKey: 02…']
      : ['node:', `  publicKey: ${inlineYaml(publicKey)}`]),
    '',
    `# Other nodes of the same chain: ${REFERENCE_HINT}.`,
    ...(list.length === 0
      ? ['#references:', '#  - { name: provider-a, url: https://rpc.provider-a.example }']
      : ['references:', ...list.map((one) => `  - ${one}`)]),
    '',
    '# The Alertmanagers to which the agent sends its alerts.',
    ...(alertmanagers.length === 0
      ? ['#alertmanagers:', '#  urls: [http://127.0.0.1:9093]']
      : ['alertmanagers:', `  urls: ${inlineYaml(alertmanagers)}`]),
  ])
}

/** The references as a file has them. */
const entryOf = ({ name, url, kind, apiKeyFile }: Config['references'][number]) => ({
  name,
  url,
  ...(kind !== 'rpc' && { kind }),
  ...(apiKeyFile !== null && { apiKeyFile }),
})

const hintFor = (prefix: string | null): string =>
  `run \`sudo chain-agent init\`, or copy secp from the output of \`${prefix ?? 'chain'}-status\``

/** The lines that are removed and added, without keys in URLs. */
const difference = (before: string, after: string, style: Style): readonly string[] => {
  const [removed, added] = [linesOf(before), linesOf(after)]
  const lines: string[] = []
  const show = (tone: Tone, sign: string, line: string): void => {
    lines.push(style.plain(style.paint(tone, `${sign} ${withoutKeys(line)}`.trimEnd())))
  }
  let at = 0
  removed.forEach((line, index) => {
    const following = removed[index + 1]
    // A line that occurs several times, such as an empty one, is the one before the same line.
    const found = added.findIndex(
      (one, to) => to >= at && one === line && (to === at || following === undefined || added[to + 1] === following),
    )
    if (found === -1) {
      show('bad', '-', line)
      return
    }
    for (const one of added.slice(at, found)) show('good', '+', one)
    at = found + 1
  })
  for (const one of added.slice(at)) show('good', '+', one)
  return lines
}

/** Brackets, braces and commas after a URL end the YAML around it. */
const withoutKeys = (line: string): string => line.replaceAll(/https?:\/\/[^\s"']*[^\s"',\]}]/gi, redactUrl)

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** What is found, and what is missing. */
const renderFound = (found: Found, style: Style): readonly string[] => {
  const { prefix, publicKey, otherKey, whyNoKey, units, devices, references, answers, alertmanagers } = found
  const missing = [
    ...(publicKey === null ? [`No public key: ${whyNoKey.split('\n')[0] ?? ''}. ${capital(hintFor(prefix))}.`] : []),
    ...(otherKey === null
      ? []
      : [`The status report has another public key: ${otherKey}. --public-key replaces yours.`]),
    ...(references.length < 2
      ? [`${references.length === 0 ? 'No reference' : 'One reference'}: ${REFERENCE_HINT}.`]
      : []),
  ]
  const rows: readonly (readonly [string, string])[] = [
    ['prefix', prefix ?? 'auto'],
    ['own key', publicKey ?? 'not found'],
    ['units', joinList(units.map(({ name, state }) => `${name} ${state}`))],
    ['database', devices.length === 0 ? 'not found' : joinList(devices)],
    ...references.map(({ name, url }): [string, string] => [
      'reference',
      `${name}, ${redactUrl(url)}: ${answers.get(name) ?? 'not read'}`,
    ]),
    ...alertmanagers.map((url): [string, string] => ['receiver', redactUrl(url)]),
  ]
  return [
    ...style.pairs(rows),
    ...missing.flatMap((line) => style.wrap(style.paint('notice', `${style.sign('notice')} ${line}`))),
  ]
}

/** What to do next. */
const renderNext = ({ alertmanagers, notifications }: Found, style: Style): readonly string[] =>
  [
    'Next: sudo systemctl reload-or-restart chain-agent, then chain-agent check.',
    alertmanagers.length === 0
      ? `${capital(notifications)}. Alerts on your phone: ${packageFile('docs/how-to/first-message.md')}`
      : `${capital(notifications)}. Test it: chain-agent alert test.`,
    `A validator with a second host: ${packageFile('docs/how-to/start-guard.md')} has a drop-in that refuses the start of consensus while the other host signs.`,
  ].flatMap((line) => style.wrap(line))
