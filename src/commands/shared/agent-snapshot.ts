import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { ParseError } from '../../core/errors.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import { createAgentApi } from '../../sources/endpoints.ts'
import { createHttpClient } from '../../sources/http.ts'
import { indexSamples, type NodeSnapshot, timestamp } from '../../health/snapshot.ts'
import type { SourceOverrides } from '../../cli/io.ts'

export interface FetchSnapshotOptions extends SourceOverrides {
  readonly config: Pick<Config, 'listen'>
  readonly clock: Clock
  readonly signal: AbortSignal
}

const statusSchema = z.object({
  agent: z.object({ version: z.string(), prefix: z.string().nullable() }),
  collectors: z.record(
    z.string(),
    z.object({
      help: z.string(),
      enabled: z.boolean(),
      up: z.boolean().nullable(),
      lastSuccessAt: timestamp.nullable(),
      error: z.string().nullable(),
      reading: z.unknown(),
    }),
  ),
})

/**
 * Reads the snapshot of the running agent; null if no agent listens. Throws a SourceError if another program answers,
 * and a ParseError if the response is not valid.
 */
export const fetchSnapshot = async (options: FetchSnapshotOptions): Promise<NodeSnapshot | null> => {
  const { config, clock, signal, ask = createHttpClient(clock) } = options
  const api = createAgentApi(ask, config.listen)
  const status = await api.get('/api/v1/status', signal)
  const metrics = status === null ? null : await api.get('/metrics', signal)
  if (status === null || metrics === null) return null
  const { agent, collectors } = parseStatus(status)
  return {
    at: clock.now(),
    origin: 'agent',
    version: agent.version,
    prefix: agent.prefix,
    collectors: Object.entries(collectors).map(([name, collector]) => ({ name, ...collector })),
    known: indexSamples(parsePrometheusText(metrics).samples),
    metrics,
  }
}

const parseStatus = (text: string): z.output<typeof statusSchema> => {
  try {
    return statusSchema.parse(JSON.parse(text))
  } catch {
    throw new ParseError("the agent's status", 'the JSON of /api/v1/status of this version', text)
  }
}
