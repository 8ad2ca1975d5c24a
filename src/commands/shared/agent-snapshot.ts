import { z } from 'zod'
import { settingsOf } from '../../agent/snapshot.ts'
import { COLLECTORS, isReadings, type Readings } from '../../collectors/index.ts'
import { orNull } from '../../collectors/shared/reading-schema.ts'
import type { Config } from '../../config/schema.ts'
import { PREFIX } from '../../config/source.ts'
import type { Clock } from '../../core/clock.ts'
import { ParseError } from '../../core/errors.ts'
import { createSampleIndex, type Sample, type SampleIndex } from '../../core/metric.ts'
import { metrics as catalogue } from '../../metrics.ts'
import {
  collectorResponse,
  type Health,
  healthResponse,
  ruleFindingResponse,
  statusResponse,
} from '../../parsers/agent-status.ts'
import { parsePrometheusText, type PrometheusSample } from '../../parsers/prometheus-text.ts'
import { createAgentApi } from '../../sources/endpoints.ts'
import { createHttpClient } from '../../sources/http.ts'
import { second } from '../../core/units.ts'
import { version } from '../../core/package.ts'
import { evaluateOnce } from '../../health/monitor.ts'
import type { NodeSnapshot } from '../../health/snapshot.ts'
import type { SourceOverrides } from '../../terminal/io.ts'

export interface FetchSnapshotOptions extends SourceOverrides {
  readonly config: Pick<Config, 'listen' | 'web' | 'state' | 'staking' | 'storage' | 'alertmanagers'>
  readonly clock: Clock
  readonly signal: AbortSignal
  /** That of an agent on another host; by default that of this host. */
  readonly url?: string
}

const statusSchema = statusResponse.extend({
  // The prefix is a part of the names of units and tools, with which commands are run.
  agent: statusResponse.shape.agent.omit({ startedAt: true }).extend({ prefix: z.string().regex(PREFIX).nullable() }),
  collectors: z.record(
    z.string(),
    // Not in responses of agents before these fields.
    collectorResponse.extend({ lastSuccessAt: orNull.time, errorCode: orNull.text, advice: orNull.text }),
  ),
})

/**
 * Reads the snapshot of the running agent; null if no agent listens. Throws a SourceError if another program answers,
 * and a ParseError if the response is not valid.
 */
export const fetchSnapshot = async (options: FetchSnapshotOptions): Promise<NodeSnapshot | null> => {
  const { config, clock, signal, ask = createHttpClient(clock) } = options
  const api = createAgentApi(ask, config, options.url)
  const status = await api.get('/api/v1/status', signal)
  const metrics = status === null ? null : await api.get('/metrics', signal)
  if (status === null || metrics === null) return null
  const { agent, collectors } = parseAs('status', statusSchema, status)
  const { samples } = parsePrometheusText(metrics)
  const at = clock.now()
  // The rules of another version are not those of this one: evaluate these on its samples.
  const health = agent.version === version ? await api.get('/api/v1/health', signal) : null
  const all = Object.entries(collectors)
  const readings = Object.fromEntries(all.map(([name, { reading }]) => [name, reading]))
  return {
    at,
    origin: 'agent',
    version: agent.version,
    prefix: agent.prefix,
    collectors: all.map(([name, { error, errorCode, advice, reading, ...state }]) => ({
      name,
      ...state,
      error: error === null ? null : { message: error, code: errorCode, advice },
      hasReading: (reading ?? null) !== null,
    })),
    readings: decodeReadings(readings),
    ...settingsOf(config),
    known: indexSamples(samples),
    health: health === null ? evaluateOnce(at, samples) : parseHealth(health),
    export: () => Promise.resolve({ metrics, readings }),
  }
}

const time = z.iso.datetime().transform((text) => Date.parse(text))
const healthSchema = healthResponse.extend({
  since: time,
  findings: z.array(ruleFindingResponse.extend({ since: time })),
})

const parseAs = <T>(what: 'status' | 'health', schema: z.ZodType<T>, text: string): T => {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    throw new ParseError(`the agent's ${what}`, `the JSON of /api/v1/${what} of this version`, text)
  }
}

const parseHealth = (text: string): Health => {
  const { findings, ...health } = parseAs('health', healthSchema, text)
  return { ...health, findings: findings.map(({ forSeconds, ...one }) => ({ ...one, for: forSeconds * second })) }
}

/** Decodes readings as in /api/v1/status, by the schemas of the collectors. */
export const decodeReadings = (json: Readonly<Record<string, unknown>>): Readings => {
  const decoded = Object.fromEntries(
    Object.values(COLLECTORS).flatMap((collector) => {
      const reading = json[collector.name] ?? null
      return reading === null || !('reading' in collector)
        ? []
        : [[collector.name, collector.reading.safeParse(reading).data]]
    }),
  )
  if (!isReadings(decoded)) throw new RangeError('a reading without a collector')
  return decoded
}

/** Indexes the samples of an exposition. Leaves out metrics that are not in the catalogue and counters of the agent itself. */
export const indexSamples = (samples: readonly PrometheusSample[]): SampleIndex => {
  const names = new Set(
    Object.entries(catalogue).flatMap(([name, { type }]) =>
      type === 'gauge' || type === 'external counter' ? [name] : [],
    ),
  )
  const isReading = (one: PrometheusSample): one is PrometheusSample & Sample => names.has(one.name)
  return createSampleIndex(samples.filter(isReading))
}
