import { stringify } from 'yaml'
import type { Config } from '../../config/schema.ts'
import { redactUrl } from '../../core/redaction/redact.ts'
import { notificationsOf } from '../../health/notifications.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import { capital, figure, joinList } from '../../core/format.ts'
import { linesText } from '../../terminal/output.ts'
import { pairs, type Style, wrap } from '../../terminal/style.ts'

/** What is found on the host of a node. */
interface Found {
  readonly prefix: string | null
  /** Null if the status report was not read. */
  readonly publicKey: string | null
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
  return {
    prefix,
    publicKey: readings.status?.config.secpPublicKey ?? config.node.publicKey,
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

const KEY_HINT = 'copy it from `sudo chain-agent init --output -`, or secp from the output of `{prefix}-status`'
const REFERENCE_HINT = 'without two references it is unknown whether the node is behind the network'

/** The file: settings that cannot be found without it, or that should not change by themselves. */
export const renderFile = (found: Found, at: number): string => {
  const { prefix, publicKey, units, devices, references, alertmanagers } = found
  const inline = (value: unknown): string => stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim()
  const list = references.map(({ name, url, kind, apiKeyFile }) =>
    inline({ name, url, ...(kind !== 'rpc' && { kind }), ...(apiKeyFile !== null && { apiKeyFile }) }),
  )
  return linesText([
    `# Written by \`chain-agent init\` at ${new Date(at).toISOString()}.`,
    '# Every key, with its default: chain-agent config --example. What is in force: chain-agent config.',
    '',
    '# Found at each start, and not set here:',
    ...units.map(({ name, state }) => `#   ${name} (${state})`),
    ...devices.map((device) => `#   database on ${device}`),
    '',
    ...(prefix === null ? ['#prefix: auto'] : [`prefix: ${inline(prefix)}`]),
    '',
    '# The secp public key of the node: identifies its own blocks and timeouts.',
    ...(publicKey === null
      ? [`# Not found: ${hintFor(prefix)}.`, '#node:', '#  publicKey: 02…']
      : ['node:', `  publicKey: ${inline(publicKey)}`]),
    '',
    `# Other nodes of the same chain: ${REFERENCE_HINT}.`,
    ...(list.length === 0
      ? ['#references:', '#  - { name: provider-a, url: https://rpc.provider-a.example }']
      : ['references:', ...list.map((one) => `  - ${one}`)]),
    '',
    '# The Alertmanagers to which the agent sends its alerts.',
    ...(alertmanagers.length === 0
      ? ['#alertmanagers:', '#  urls: [http://127.0.0.1:9093]']
      : ['alertmanagers:', `  urls: ${inline(alertmanagers)}`]),
  ])
}

const hintFor = (prefix: string | null): string => KEY_HINT.replace('{prefix}', prefix ?? 'chain')

/** What was written, what is missing, and what to do next. */
export const renderFound = (file: string, found: Found, style: Style): string => {
  const { prefix, publicKey, whyNoKey, units, devices, references, answers } = found
  const missing = [
    ...(publicKey === null ? [`No public key: ${whyNoKey.split('\n')[0] ?? ''}. ${capital(hintFor(prefix))}.`] : []),
    ...(references.length < 2
      ? [`${references.length === 0 ? 'No reference' : 'One reference'}: ${REFERENCE_HINT}.`]
      : []),
  ]
  return linesText([
    style.paint('strong', `Wrote ${file}`),
    ...pairs(
      [
        ['prefix', prefix ?? 'auto'],
        ['own key', publicKey ?? 'not found'],
        ['units', joinList(units.map(({ name, state }) => `${name} ${state}`))],
        ['database', devices.length === 0 ? 'not found' : joinList(devices)],
        ...references.map(({ name, url }): [string, string] => [
          'reference',
          `${name}, ${redactUrl(url)}: ${answers.get(name) ?? 'not read'}`,
        ]),
      ].map(([name = '', value = '']) => [name, value]),
      style,
    ),
    ...missing.flatMap((line) => wrap(style.paint('notice', `${style.sign('notice')} ${line}`), style)),
    ...wrap('Next: sudo systemctl restart chain-agent, then chain-agent check.', style),
    ...wrap(`${capital(found.notifications)}. Test it: chain-agent alert test.`, style),
  ])
}
