import { inlineYaml } from '../../config/edit.ts'
import type { Config } from '../../config/schema.ts'
import { redactUrl } from '../../core/redaction/redact.ts'
import { notificationsOf } from '../../health/notifications.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { capital, figure, joinList } from '../../core/format.ts'
import { packageFile } from '../../core/package.ts'
import { linesText } from '../../terminal/output.ts'
import { pairs, type Style, wrap } from '../../terminal/style.ts'

/** What is found on the host of a node. */
export interface Found {
  readonly prefix: string | null
  /** That of the configuration, else of the status report; null if neither has it. */
  readonly publicKey: string | null
  /** The one of the status report, if the configuration has another. */
  readonly otherKey: string | null
  /** Why there is no public key. */
  readonly whyNoKey: string
  /** Whether systemd has a unit of consensus or execution. */
  readonly hasNode: boolean
  /** Units that systemd has loaded, with their state. */
  readonly units: readonly { readonly name: string; readonly state: string }[]
  readonly devices: readonly string[]
  readonly references: Config['references']
  /** Name → the answer of the reference. */
  readonly answers: ReadonlyMap<string, string>
  /** Addresses of Alertmanagers. */
  readonly alertmanagers: readonly string[]
  /** Which receivers are notified. */
  readonly notifications: string
}

export const foundOn = (snapshot: NodeSnapshot, config: Config): Found => {
  const { prefix, readings, collectors } = snapshot
  const reported = readings.status?.config.secpPublicKey ?? null
  const publicKey = config.node.publicKey ?? reported
  return {
    prefix,
    publicKey,
    otherKey: reported === publicKey ? null : reported,
    whyNoKey: collectors.find(({ name }) => name === 'status')?.error?.message ?? 'the status report does not have it',
    hasNode: (readings.services?.services ?? []).some(
      ({ service, loadState }) => (service === 'bft' || service === 'execution') && loadState === 'loaded',
    ),
    units: (readings.services?.services ?? []).flatMap(({ unit, loadState, activeState }) =>
      unit === null || loadState !== 'loaded' ? [] : [{ name: unit, state: activeState ?? 'unknown' }],
    ),
    devices: (readings.storage?.devices ?? []).flatMap(({ path }) => (path === null ? [] : [path])),
    references: config.references,
    answers: new Map(
      (readings.reference?.references ?? []).map(({ name, blockNumber, state }) => [
        name ?? '',
        blockNumber === null ? (state ?? 'no answer') : `block ${figure(blockNumber)}`,
      ]),
    ),
    alertmanagers: config.alertmanagers.urls,
    notifications: notificationsOf(snapshot).text,
  }
}

const KEY_HINT = 'run `sudo chain-agent init`, or copy secp from the output of `{prefix}-status`'
const REFERENCE_HINT = 'without two references it is unknown whether the node is behind the network'

/** The file: settings that cannot be found without it, or that should not change by themselves. */
export const renderFile = (found: Found, at: number): string => {
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
export const entryOf = ({ name, url, kind, apiKeyFile }: Config['references'][number]) => ({
  name,
  url,
  ...(kind !== 'rpc' && { kind }),
  ...(apiKeyFile !== null && { apiKeyFile }),
})

const hintFor = (prefix: string | null): string => KEY_HINT.replace('{prefix}', prefix ?? 'chain')

/**
 * The lines that are removed and added, without keys in URLs. What `init` writes has all other lines of the file, in
 * their order.
 */
export const difference = (before: string, after: string, style: Style): readonly string[] => {
  const added = linesOf(after)
  const lines: string[] = []
  let at = 0
  const addUntil = (end: number): void => {
    lines.push(...added.slice(at, end).map((line) => style.paint('good', `+ ${withoutKeys(line)}`.trimEnd())))
    at = end
  }
  for (const line of linesOf(before)) {
    const found = added.indexOf(line, at)
    if (found === -1) lines.push(style.paint('bad', `- ${withoutKeys(line)}`.trimEnd()))
    else {
      addUntil(found)
      at += 1
    }
  }
  addUntil(added.length)
  return lines.map(style.plain)
}

/** Brackets, braces and commas after a URL end the YAML around it. */
const withoutKeys = (line: string): string => line.replaceAll(/https?:\/\/[^\s"']*[^\s"',\]}]/gi, redactUrl)

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

/** What is found, and what is missing. */
export const renderFound = (found: Found, style: Style): readonly string[] => {
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
    ...pairs(rows, style),
    ...missing.flatMap((line) => wrap(style.paint('notice', `${style.sign('notice')} ${line}`), style)),
  ]
}

const FIRST_MESSAGE = 'docs/how-to/first-message.md'
const START_GUARD = 'docs/how-to/start-guard.md'

/** What to do next. */
export const renderNext = ({ alertmanagers, notifications }: Found, style: Style): readonly string[] =>
  [
    'Next: sudo systemctl reload-or-restart chain-agent, then chain-agent check.',
    alertmanagers.length === 0
      ? `${capital(notifications)}. Alerts on your phone: ${packageFile(FIRST_MESSAGE)}`
      : `${capital(notifications)}. Test it: chain-agent alert test.`,
    `A validator with a second host: ${packageFile(START_GUARD)} has a drop-in that refuses the start of consensus while the other host signs.`,
  ].flatMap((line) => wrap(line, style))
