import { drift } from '../drift.ts'
import type { SimulatedNode } from '../node.ts'
import { rpcListens } from '../scenario/statesync.ts'
import { type Figure, figuresAt } from './native-figures.ts'
import { runningVersion } from '../scenario/versions.ts'

/** What consensus serves itself: plain integers, no times. */
export const renderNative = (node: SimulatedNode): string => {
  const { frozenMs } = node.condition().native
  const figures = figuresAt(node, Math.min(node.now(), frozenMs ?? Infinity))
  return render(node, figures, { labels: labelsOf(node), write: String })
}

/** Consensus tells the OpenTelemetry collector its values each second. */
const TOLD_EVERY_MS = 1000

/**
 * What the collector serves: floats, each with its time; the last values for a while after consensus
 * has fallen silent, then what the RPC tells, and nothing else.
 */
export const renderOtel = (node: SimulatedNode): string => {
  const now = node.now()
  const { services, native } = node.condition()
  const { bft, otelcol } = services
  const lastMs = Math.min(bft.state === 'active' ? now : bft.changedMs, native.frozenMs ?? now)
  const toldMs = Math.floor(lastMs / TOLD_EVERY_MS) * TOLD_EVERY_MS
  const isServed = toldMs > otelcol.startedMs && now - toldMs <= native.keptMs
  return [
    isServed ? render(node, figuresAt(node, toldMs), otelOf(node, toldMs)) : '',
    rpcListens(node.condition(), now) ? renderRpc(node) : '',
  ].join('')
}

interface Form {
  /** As they stand between the braces. */
  readonly labels: string
  readonly write: (value: number) => string
}

const render = (
  { prefix, condition }: SimulatedNode,
  figures: readonly Figure[],
  { labels, write }: Form,
): string => {
  const text = figures
    .map(({ name, help, value }) =>
      [
        `# HELP ${prefix}_${name} ${help}`,
        `# TYPE ${prefix}_${name} gauge`,
        `${prefix}_${name}{${labels}} ${write(value)}\n`,
      ].join('\n'),
    )
    .join('')
  return condition().formatsDrift ? drift.native(text) : text
}

const NETWORK = 'rehearsal'
const NODE = 'simulated'

const versionOf = (node: SimulatedNode): string => {
  const { versions, services } = node.condition()
  return runningVersion(versions, services.bft)
}

const labelsOf = (node: SimulatedNode): string =>
  `network="${NETWORK}",service_name="${NETWORK}_${NODE}",service_version="${versionOf(node)}"`

const otelOf = (node: SimulatedNode, atMs: number): Form => ({
  labels: `job="${NETWORK}_${NODE}",network="${NETWORK}",otel_scope_name="opentelemetry",otel_scope_version="",service_name="${NETWORK}_${NODE}",service_version="${versionOf(node)}"`,
  write: (value) => `${float(value)} ${atMs}`,
})

const renderRpc = ({ prefix, now }: SimulatedNode): string => {
  const labels = `job="${NODE}",server_address="localhost",server_port="8080",service_name="${NODE}"`
  return [
    `# TYPE ${prefix}_rpc_active_requests gauge`,
    `${prefix}_rpc_active_requests{${labels}} 0 ${now()}`,
    '# TYPE target_info gauge',
    `target_info{job="${NODE}",service_name="${NODE}"} 1 ${now()}`,
    '',
  ].join('\n')
}

/** As Go writes floats: an exponent of two digits from a million on. */
const float = (value: number): string => {
  if (Math.abs(value) < 1e6) return String(value)
  const [digits = '', exponent = ''] = value.toExponential().split('e+')
  return `${digits}e+${exponent.padStart(2, '0')}`
}
