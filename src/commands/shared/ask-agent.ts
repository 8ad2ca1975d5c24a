import { z } from 'zod'
import type { Config } from '../../config/schema.ts'
import type { Clock } from '../../core/clock.ts'
import { ParseError } from '../../core/errors.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import { createAgentApi } from '../../sources/agent-api.ts'
import { createHttpClient } from '../../sources/http.ts'
import { knownFrom } from '../../health/known-from.ts'
import { type Picture, timestamp } from '../../health/picture.ts'
import type { StandIns } from './stand-ins.ts'

export interface AskAgentOptions extends StandIns {
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
 * What the agent that runs on this host knows; null where none listens. Throws a SourceError when
 * somebody else answers in its place, and a ParseError when the answer is none of an agent.
 */
export const askAgent = async (options: AskAgentOptions): Promise<Picture | null> => {
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
    collectors: Object.entries(collectors).map(([name, told]) => ({ name, ...told })),
    known: knownFrom(parsePrometheusText(metrics).samples),
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
