import { z } from 'zod'
import { ParseError, redactedExcerpt, SourceError } from '../../core/errors.ts'
import { tryJson } from '../../core/json.ts'
import { LIMITS } from '../../core/limits.ts'
import { redactUrl } from '../../core/redaction/redact.ts'
import { minute, second } from '../../core/units.ts'
import { NoResponseError, type SendRequest } from '../../sources/http.ts'

/** An error of one query, such as too many samples: the server answers others. */
export class QueryError extends SourceError {
  override name = 'QueryError'
}

/** In milliseconds since the epoch. */
interface TimeRange {
  readonly from: number
  readonly to: number
}

interface InstantSeries {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

interface QueriedSeries {
  readonly labels: Readonly<Record<string, string>>
  /** When it has a sample, in milliseconds since the epoch. */
  readonly times: readonly number[]
}

/**
 * The HTTP API of a Prometheus. Each method throws a QueryError for an error of the query, and another SourceError if no
 * Prometheus answers.
 */
export interface PrometheusApi {
  /** The names of the metrics with data in a range. */
  metricNames(range: TimeRange): Promise<ReadonlySet<string>>
  /** The series that an expression returns at a time. */
  instant(expr: string, at: number): Promise<readonly InstantSeries[]>
  /** The series that an expression returns in a range, evaluated at both ends and at each step, in milliseconds. */
  series(expr: string, range: TimeRange & { readonly step: number }): Promise<readonly QueriedSeries[]>
}

interface ApiRequest<Data> {
  readonly path: string
  readonly schema: z.ZodType<Data>
  /** Of a query. */
  readonly parameters?: Readonly<Record<string, string | number>>
}

/** Of the evaluation: a Prometheus ends a query after 2 min by default. */
const QUERY_MS = 2 * minute
/** The response may take longer by this. */
const TRANSFER_MS = 30 * second
const JSON_LIMITS = { depth: LIMITS.json.depth, values: 2_000_000 }

export const createPrometheusApi = (ask: SendRequest, url: string, signal: AbortSignal): PrometheusApi => {
  const request = async <Data>({ path, schema, parameters }: ApiRequest<Data>): Promise<Data> => {
    const address = `${url}/api/v1/${path}`
    const doing = `request ${redactUrl(address)}`
    const form = new URLSearchParams()
    const query = { ...parameters, timeout: QUERY_MS / second }
    for (const [name, value] of Object.entries(query)) form.set(name, String(value))
    try {
      const { status, text } = await ask({
        url: address,
        ...(parameters && {
          // An expression may be longer than an address that a proxy accepts.
          init: { method: 'POST', body: form.toString(), contentType: FORM },
        }),
        timeout: QUERY_MS + TRANSFER_MS,
        maxBytes: LIMITS.response.pageBytes,
        signal,
      })
      const answer = answerSchema.safeParse(tryJson(text, JSON_LIMITS)).data
      if (answer?.status === 'error') throw new QueryError({ doing, happened: redactedExcerpt(answer.error) })
      const { data } = schema.safeParse(answer?.data)
      if (data !== undefined) return data
      const happened = `the response, of status ${status}, is not that of a Prometheus`
      throw new (parameters ? QueryError : SourceError)({ doing, happened, evidence: text, advice: ADVICE })
    } catch (error) {
      if (signal.aborted) throw error
      if (error instanceof ParseError) throw new QueryError({ doing, happened: error.summary })
      if (!(error instanceof NoResponseError)) throw error
      const { silence, happened, advice = ADVICE } = error
      throw new (parameters && silence === 'timeout' ? QueryError : SourceError)({ doing, happened, advice })
    }
  }
  return {
    metricNames: async ({ from, to }) => {
      const path = `label/__name__/values?start=${from / second}&end=${to / second}`
      return new Set(await request({ path, schema: namesSchema }))
    },
    instant: async (expr, at) => {
      const parameters = { query: expr, time: at / second }
      const { result } = await request({ path: 'query', schema: vectorSchema, parameters })
      return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }))
    },
    series: async (expr, { from, to, step }) => {
      const parameters = { query: expr, start: from / second, end: to / second, step: step / second }
      const { result } = await request({ path: 'query_range', schema: matrixSchema, parameters })
      return result.map(({ metric, values }) => ({ labels: metric, times: values.map(([at]) => at * second) }))
    },
  }
}

const FORM = 'application/x-www-form-urlencoded'
const ADVICE = 'check the address: it is that of the Prometheus that scrapes the agents, such as http://localhost:9090'

const answerSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.unknown() }),
  z.object({ status: z.literal('error'), error: z.string() }),
])
const namesSchema = z.array(z.string())
const labels = z.record(z.string(), z.string())
const point = z.tuple([z.number(), z.string()])
const vectorSchema = z.object({ result: z.array(z.object({ metric: labels, value: point })) })
const matrixSchema = z.object({
  result: z.array(z.object({ metric: labels, values: z.array(point) })),
})
