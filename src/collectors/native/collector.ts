import type { Context } from '../../core/clock.ts'
import { type Collector, metadataOf, poll } from '../../core/collector.ts'
import { ParseError, redactedExcerpt } from '../../core/errors.ts'
import { sample } from '../../core/metric.ts'
import { createUnknownValues } from '../../core/unknown-values.ts'
import { definition, NATIVE_SOURCES } from './definition.ts'
import { type Exposition, parsePrometheusText, withoutFutureTimes } from '../../parsers/prometheus-text.ts'
import type { MetricsEndpoint } from '../../sources/endpoints.ts'
import type { HttpResponse } from '../../sources/http.ts'
import { createUnparsedLine } from '../shared/log-lines.ts'
import {
  createMovementDetector,
  type Movement,
  nativeSamples,
  type NativeSeries,
  readNativeSeries,
  unknownNativeValues,
} from './series.ts'
import { failureState, request, requestTimeout } from '../shared/request.ts'
import type { Settings, Uses } from '../dependencies.ts'

type NativeSource = (typeof NATIVE_SOURCES)[number]

export interface NativeReading {
  /** The endpoints that were read, whether each returned metrics of consensus, and its state. */
  readonly asked: readonly {
    readonly source: NativeSource
    readonly up: boolean
    readonly state: string
    /** Whether it returned something else than metrics. */
    readonly isOtherContent: boolean
  }[]
  /** The metrics and the endpoint that returned them; null if none did. */
  readonly given: {
    readonly source: NativeSource
    readonly pace: Movement
    readonly series: NativeSeries
  } | null
  readonly unparsed: string | null
  /** Unknown values by their list. */
  readonly unknown: Readonly<Record<string, string>>
}

type NativeUses = Uses<
  'nativeAt' | 'readPrefix' | 'recorder' | 'clock',
  Settings<typeof definition, 'url' | 'fallbackUrl' | 'namePrefix'>
>

const FORMAT = 'prometheus'
const MOVEMENT_STATES = { moving: 'changing', standing: 'not changing' } as const

/** Metrics of consensus, from its own endpoint or from that of an OpenTelemetry collector. */
export const native = (uses: NativeUses): Collector<NativeReading> => {
  const { recorder, clock, namePrefix, readPrefix, timing } = uses
  const endpoints = endpointsOf(uses)
  const movements = { native: createMovementDetector(clock), otel: createMovementDetector(clock) }
  const unparsedLine = createUnparsedLine()
  const unknownValues = createUnknownValues(recorder, FORMAT)
  const describeOther = createContentLog()

  const count = ({ unknownLines, firstUnknown }: Exposition): void => {
    recorder.count('chain_agent_lines_total', unknownLines, { format: FORMAT, result: 'unparsed' })
    if (firstUnknown === null) return
    unparsedLine.add(new ParseError("the node's metrics", 'a name, labels, a value', firstUnknown), clock.now())
  }

  const readEndpoint = async (
    { source, endpoint }: Endpoint,
    prefix: string,
    signal: AbortSignal,
  ): Promise<{ readonly state: string; readonly isOtherContent?: true; readonly series?: NativeSeries }> => {
    const response = endpoint.metrics(signal)
    const reply = await request(response, parsePrometheusText)
    if (!reply.ok && reply.reason === 'invalid') {
      // A response that is too long has no content.
      const content = await response.catch(() => null)
      const state = content === null ? failureState(reply) : describeOther(source, content, reply.detail)
      return { state, isOtherContent: true }
    }
    if (!reply.ok) return { state: failureState(reply) }
    count(reply.value)
    const series = readNativeSeries(withoutFutureTimes(reply.value.samples, clock.now()), prefix)
    if (!series) return { state: noMetricsState(reply.value, prefix) }
    unknownValues.add(unknownNativeValues(series))
    return { state: 'answering', series }
  }

  const read = async ({ signal }: Context): Promise<NativeReading> => {
    const prefix = namePrefix ?? (await readPrefix(signal)).word
    const asked: NativeReading['asked'][number][] = []
    let given: NativeReading['given'] = null
    for (const endpoint of endpoints) {
      const { source } = endpoint
      const { state, isOtherContent = false, series } = await readEndpoint(endpoint, prefix, signal)
      asked.push({ source, up: series !== undefined, state, isOtherContent })
      if (!series) continue
      given = { source, pace: movements[source].update(series), series }
      break
    }
    // Values from before a failed or omitted read do not prove that the current ones change.
    for (const source of NATIVE_SOURCES) if (given?.source !== source) movements[source].reset()
    return { asked, given, unparsed: unparsedLine.get(), unknown: unknownValues.states() }
  }

  return {
    ...metadataOf(definition, timing),
    run: poll(timing, read),
    samples: ({ asked, given }) => [
      ...asked.map(({ source, up }) => sample('chain_native_up', up, { source })),
      ...(given && given.pace !== 'unknown' ? [sample('chain_native_frozen', given.pace === 'standing')] : []),
      ...(given && isLive(given) ? nativeSamples(given.series) : []),
    ],
    states: ({ asked, given, unparsed, unknown }) => ({
      ...Object.fromEntries(asked.map(({ source, state }) => [subjectOf(source), state])),
      ...(given && given.pace !== 'unknown' && { 'metrics of consensus': MOVEMENT_STATES[given.pace] }),
      ...(unparsed !== null && { 'metrics, unparsed': unparsed }),
      ...unknown,
    }),
    warnings: ({ asked }) => asked.flatMap(({ source, isOtherContent }) => (isOtherContent ? [subjectOf(source)] : [])),
  }
}

const subjectOf = (source: NativeSource): string => `metrics at ${source}`

const SHOWN = 60

/** What came in place of the Prometheus text format, and what to do. `problem`: why it could not be parsed. */
const describeOtherContent = ({ status, text, contentType }: HttpResponse, problem: string): string => {
  const type = printable(contentType ?? 'no Content-Type')
  return `invalid: ${problem}, HTTP status ${status}, ${type}, begins with "${printable(text)}"; check with curl what that address returns`
}

/** Bytes that a terminal does not show are dots, as in a hex dump. */
const printable = (text: string): string =>
  redactedExcerpt(text)
    .replaceAll(/[^\u0020-\u007E]/g, '.')
    .slice(0, SHOWN)

/** The text of a body may differ at each read: it is replaced when the Content-Type or status changes. */
const createContentLog = () => {
  const last = new Map<NativeSource, { readonly kind: string; readonly text: string }>()
  return (source: NativeSource, response: HttpResponse, problem: string): string => {
    const kind = `${response.status} ${response.contentType ?? ''}`
    const before = last.get(source)
    const current = before?.kind === kind ? before : { kind, text: describeOtherContent(response, problem) }
    last.set(source, current)
    return current.text
  }
}

interface Endpoint {
  readonly source: NativeSource
  readonly endpoint: MetricsEndpoint
}

const endpointsOf = ({ nativeAt, url, fallbackUrl, timing }: NativeUses): readonly Endpoint[] => {
  const timeout = requestTimeout(timing, 2)
  const own: Endpoint = { source: 'native', endpoint: nativeAt(url, timeout) }
  return fallbackUrl === null ? [own] : [own, { source: 'otel', endpoint: nativeAt(fallbackUrl, timeout) }]
}

/** A process responds itself at its own endpoint. Values of an OpenTelemetry collector may be old. */
const isLive = ({ source, pace }: NonNullable<NativeReading['given']>): boolean =>
  pace === 'moving' || (pace === 'unknown' && source === 'native')

/** The prefix may differ between metrics and units: the metric of the uptime shows it. */
const noMetricsState = ({ samples }: Exposition, prefix: string): string => {
  for (const { name } of samples) {
    const [, found] = /^([a-z][a-z0-9]*)_total_uptime_us$/.exec(name) ?? []
    if (found !== undefined) {
      return `no metric names with the prefix ${prefix}, but with ${found}: set native.namePrefix`
    }
  }
  return 'answering, with no metrics of consensus'
}
