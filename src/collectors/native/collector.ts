import type { Clock } from '../../core/clock.ts'
import { type Collector, type Context, poll, type Timing } from '../../core/collector.ts'
import { ParseError } from '../../core/errors.ts'
import type { Recorder } from '../../core/recorder.ts'
import { definition, NATIVE_SOURCES } from './definition.ts'
import { sample } from '../../core/metric.ts'
import { type Exposition, parsePrometheusText } from '../../parsers/prometheus-text.ts'
import type { Native } from '../../sources/native.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'
import { createUnparsedLine } from '../shared/log-lines.ts'
import { createPace, type Pace } from './pace.ts'
import { nativeSamples } from './samples.ts'
import { type NativeSeries, readNativeSeries } from './series.ts'
import { request, stateOf, requestTimeout } from '../shared/request.ts'
import type { OfferCollector } from '../dependencies.ts'

type NativeSource = (typeof NATIVE_SOURCES)[number]

export interface NativeReading {
  /** Whether each endpoint that was asked gave metrics of consensus; and in words. */
  readonly asked: readonly {
    readonly source: NativeSource
    readonly up: boolean
    readonly state: string
  }[]
  /** What was given, and by whom; null where nobody gave any. */
  readonly given: {
    readonly source: NativeSource
    readonly pace: Pace
    readonly series: NativeSeries
  } | null
  readonly unparsed: string | null
}

interface Parts {
  readonly at: (url: string) => Native
  readonly url: string
  /** Asked where the first gives no metrics of consensus. */
  readonly fallbackUrl: string | null
  /** The first word of the metrics' names; null where it is the maker's. */
  readonly namePrefix: string | null
  readonly readPrefix: ReadPrefix
  readonly recorder: Recorder
  readonly clock: Clock
  readonly timing: Timing
}

const FORMAT = 'prometheus'
const PACES = { moving: 'moving', standing: 'standing still' } as const

/** Consensus' own metrics, at its own endpoint or at that of an OpenTelemetry collector. */
export const native = (parts: Parts): Collector<NativeReading> => {
  const { recorder, clock, timing } = parts
  const endpoints = endpointsOf(parts)
  const paces = { native: createPace(clock), otel: createPace(clock) }
  const drift = createUnparsedLine()

  const count = ({ unknownLines, firstUnknown }: Exposition): void => {
    recorder.count('chain_agent_lines_total', unknownLines, { format: FORMAT, result: 'unparsed' })
    if (firstUnknown === null) return
    drift.add(
      new ParseError("the node's metrics", 'a name, labels, a value', firstUnknown),
      clock.now(),
    )
  }

  const ask = async (
    endpoint: Native,
    prefix: string,
    signal: AbortSignal,
  ): Promise<{ readonly state: string; readonly series?: NativeSeries }> => {
    const reply = await request(endpoint.metrics(signal), parsePrometheusText)
    if (!reply.ok) return { state: stateOf(reply) }
    count(reply.value)
    const series = readNativeSeries(reply.value.samples, prefix)
    return series ? { state: 'answering', series } : { state: nothingFrom(reply.value, prefix) }
  }

  const read = async ({ signal }: Context): Promise<NativeReading> => {
    const prefix = parts.namePrefix ?? (await parts.readPrefix(signal)).word
    const asked: NativeReading['asked'][number][] = []
    let given: NativeReading['given'] = null
    for (const { source, endpoint } of endpoints) {
      const { state, series } = await ask(endpoint, prefix, signal)
      asked.push({ source, up: series !== undefined, state })
      if (!series) continue
      given = { source, pace: paces[source].judge(series), series }
      break
    }
    // What an endpoint said before it was silent, or before it was not asked, proves no movement.
    for (const source of NATIVE_SOURCES) if (given?.source !== source) paces[source].forget()
    return { asked, given, unparsed: drift.get() }
  }

  return {
    name: definition.name,
    help: definition.help,
    timing,
    run: poll(timing, read),
    samples: ({ asked, given }) => [
      ...asked.map(({ source, up }) => sample('chain_native_up', up, { source })),
      ...(given && given.pace !== 'unknown'
        ? [sample('chain_native_frozen', given.pace === 'standing')]
        : []),
      ...(given && isLive(given) ? nativeSamples(given.series) : []),
    ],
    states: ({ asked, given, unparsed }) => ({
      ...Object.fromEntries(asked.map(({ source, state }) => [`metrics at ${source}`, state])),
      ...(given && given.pace !== 'unknown' && { 'metrics of consensus': PACES[given.pace] }),
      ...(unparsed === null ? {} : { 'metrics, unparsed': unparsed }),
    }),
  }
}

const endpointsOf = ({ at, url, fallbackUrl }: Parts) => [
  { source: 'native' as const, endpoint: at(url) },
  ...(fallbackUrl === null ? [] : [{ source: 'otel' as const, endpoint: at(fallbackUrl) }]),
]

/** At its own endpoint a process answers itself; what a collector serves must be seen to be of now. */
const isLive = ({ source, pace }: NonNullable<NativeReading['given']>): boolean =>
  pace === 'moving' || (pace === 'unknown' && source === 'native')

/** The maker's word may be another in the metrics than in the units: the name of the uptime tells it. */
const nothingFrom = ({ samples }: Exposition, prefix: string): string => {
  for (const { name } of samples) {
    const [, word] = /^([a-z][a-z0-9]*)_total_uptime_us$/.exec(name) ?? []
    if (word !== undefined) {
      return `no names that begin with ${prefix}, but with ${word}: set native.namePrefix`
    }
  }
  return 'answering, with no metrics of consensus'
}

export const offer: OfferCollector = ({ config, nativeAt, readPrefix, recorder, clock }) => ({
  uses: [readPrefix],
  create: (timing) =>
    native({
      ...config.native,
      at: (url) => nativeAt(url, requestTimeout(timing, 2)),
      readPrefix,
      recorder,
      clock,
      timing,
    }),
})
