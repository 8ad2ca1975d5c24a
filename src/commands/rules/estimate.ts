import { minute, parseDuration, second } from '../../core/units.ts'
import { createFiringCounter, type EvaluationTiming, type FiringCounts } from '../../health/rules/count-firings.ts'
import { expressionOf, forTargets, INTERVAL, type RenderOptions } from '../../health/rules/render.ts'
import { addressOf, levelsOf, type RuleFile, type RuleSeverity } from '../../health/rules/rule.ts'
import { missingMetrics, substituteRecordings } from '../../health/rules/substitute.ts'
import { z } from 'zod'
import { ParseError, redactedExcerpt, SourceError } from '../../core/errors.ts'
import { tryJson } from '../../core/json.ts'
import { LIMITS } from '../../core/limits.ts'
import { redactUrl } from '../../core/redaction/redact.ts'
import { NoResponseError, type SendRequest } from '../../sources/http.ts'

/** A rule at one severity. */
export type RuleEstimate = { readonly address: string; readonly severity: RuleSeverity } & (
  | ({ readonly state: 'fired' } & FiringCounts)
  | { readonly state: 'silent' }
  /** It cannot fire: these metrics never had data. */
  | { readonly state: 'no data'; readonly metrics: readonly string[] }
  /** These recorded series do not exist since the beginning, and computing them would take too long. */
  | { readonly state: 'needs recording rules'; readonly records: readonly string[] }
  | { readonly state: 'failed'; readonly error: string }
)

export type Estimate = Awaited<ReturnType<typeof estimateFirings>>

interface EstimateContext extends TimeRange {
  readonly api: ReturnType<typeof createPrometheusApi>
}

interface EstimateRequest extends EstimateContext {
  readonly files: readonly RuleFile[]
  readonly targets: Pick<RenderOptions, 'job' | 'targetLabels'>
  readonly onProgress: (text: string) => void
}

/** How often each rule would have fired. Throws a SourceError if no Prometheus answers. */
export const estimateFirings = async (request: EstimateRequest) => {
  const { api, files, to, targets, onProgress } = request
  const names = await api.metricNames(request)
  const from = await firstSample(request)
  const rows = files.flatMap(({ groups }) => groups.flatMap(({ rules }) => rules))
  const recordings = rows.flatMap((row) => ('record' in row ? [{ labels: {}, ...row }] : []))
  const recorded = await recordedSince(
    request,
    from,
    recordings.map(({ record }) => record).filter((record) => names.has(record)),
  )
  const missing = recordings.filter(({ record }) => !recorded.has(record))
  const all = rulesOf(files)
  const rules: RuleEstimate[] = []
  const computed = new Set<string>()
  for (const [index, { address, severity, timing, ...rule }] of all.entries()) {
    onProgress(`Rule ${index + 1} of ${all.length}: ${address}`)
    const { substituted, long, ...complete } = substituteRecordings(rule.expr, missing)
    const expr = forTargets(complete.expr, targets)
    const metrics = missingMetrics(expr, names)
    if (metrics.length > 0) rules.push({ address, severity, state: 'no data', metrics })
    else if (long.length > 0) rules.push({ address, severity, state: 'needs recording rules', records: long })
    else {
      for (const record of substituted) computed.add(record)
      rules.push({ address, severity, ...(await evaluate({ api, from, to }, expr, timing)) })
    }
  }
  // `computed`: the recorded series that do not exist since the beginning.
  return { from, to, rules: rules.toSorted(compareLoudness), computed: [...computed].toSorted() }
}

/** Of the search for the first sample; shorter than the durations of the alerts on absence, or as long. */
const STEP = 5 * minute

/** Before the first sample of the agents each absence would be a firing. By itself no reason to end. */
const firstSample = async ({ api, from, to, targets: { job } }: EstimateRequest): Promise<number> => {
  const range = `[${Math.round((to - from) / second)}s:${STEP / second}s]`
  const expr = `min(min_over_time(timestamp(up{job=${JSON.stringify(job)}})${range}))`
  const [first] = await api.instant(expr, to).catch(none)
  const begun = first === undefined ? from : first.value * second
  // In whole steps, so that the evaluations are those of the whole range.
  return begun - from <= STEP ? from : to - Math.floor((to - begun) / STEP) * STEP
}

/** For a query that the server rejects: no series. */
const none = (error: unknown): readonly [] => {
  if (error instanceof QueryError) return []
  throw error
}

/** Recorded series that began later, as rules that were installed within the range have, would lack the time before. */
const recordedSince = async (
  { api }: EstimateRequest,
  from: number,
  records: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (records.length === 0) return new Set()
  const expr = `count by (__name__) ({__name__=~"${[...new Set(records)].join('|')}"})`
  const found = await api.instant(expr, from + STEP).catch(none)
  return new Set(found.map(({ labels }) => labels['__name__'] ?? ''))
}

const rulesOf = (files: readonly RuleFile[]) =>
  files
    .flatMap(({ groups }) => groups)
    .flatMap(({ interval = INTERVAL, rules }) =>
      rules
        .flatMap((row) => ('alert' in row ? levelsOf(row) : []))
        .map((row) => ({
          address: addressOf(row),
          severity: row.severity,
          expr: expressionOf(row),
          timing: {
            for: parseDuration(row.for ?? '') ?? 0,
            keepFiringFor: parseDuration(row.keepFiringFor ?? '') ?? 0,
            interval: parseDuration(interval) ?? 0,
          },
        })),
    )

const compareLoudness = (a: RuleEstimate, b: RuleEstimate): number => {
  const [one, other] = [a, b].map((rule) => (rule.state === 'fired' ? rule : { firings: 0, firingMs: 0 }))
  return (
    (other?.firings ?? 0) - (one?.firings ?? 0) ||
    (other?.firingMs ?? 0) - (one?.firingMs ?? 0) ||
    a.address.localeCompare(b.address)
  )
}

/** Of a query: Prometheus returns at most 11,000 of a series. */
const MAX_STEPS = 10_000
/** Of a response, of all series: some 5 MB. */
const MAX_SAMPLES = 200_000

const evaluate = async ({ api, from, to }: EstimateContext, expr: string, timing: EvaluationTiming) => {
  const { interval } = timing
  const end = to - (to % interval)
  const counter = createFiringCounter(timing)
  // The product has no name: alerts have none, and a range in which two metrics have the same labels is an error.
  const unnamed = `(${expr}) * 1`
  try {
    const range = `[${Math.round((to - from) / second)}s:${interval / second}s]`
    const { length: series } = await api.instant(`count_over_time((${unnamed})${range})`, end)
    if (series === 0) return { state: 'silent' } as const
    const length = interval * Math.max(1, Math.min(MAX_STEPS, Math.floor(MAX_SAMPLES / series)))
    for (let first = end - (to - from) + interval; first <= end; first += length) {
      const chunk = { from: first, to: Math.min(first + length - interval, end), step: interval }
      for (const { labels, times } of await api.series(unnamed, chunk)) {
        for (const at of times) counter.add(labels, at)
      }
    }
  } catch (error) {
    if (error instanceof QueryError) return { state: 'failed', error: error.happened } as const
    throw error
  }
  const counts = counter.countsUntil(end)
  return counts.firings === 0 ? ({ state: 'silent' } as const) : ({ state: 'fired', ...counts } as const)
}

/** An error of one query, such as too many samples: the server answers others. */
class QueryError extends SourceError {
  override name = 'QueryError'
}

/** In milliseconds since the epoch. */
interface TimeRange {
  readonly from: number
  readonly to: number
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

/**
 * The HTTP API of a Prometheus. Each method throws a QueryError for an error of the query, and another SourceError if no
 * Prometheus answers.
 */
export const createPrometheusApi = (ask: SendRequest, url: string, signal: AbortSignal) => {
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
      const { timeout, happened, advice = ADVICE } = error
      throw new (parameters && timeout ? QueryError : SourceError)({ doing, happened, advice })
    }
  }
  return {
    /** The names of the metrics with data in a range. */
    metricNames: async ({ from, to }: TimeRange): Promise<ReadonlySet<string>> => {
      const path = `label/__name__/values?start=${from / second}&end=${to / second}`
      return new Set(await request({ path, schema: namesSchema }))
    },
    /** The series that an expression returns at a time. */
    instant: async (expr: string, at: number) => {
      const parameters = { query: expr, time: at / second }
      const { result } = await request({ path: 'query', schema: vectorSchema, parameters })
      return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }))
    },
    /** When the series of an expression have a sample, evaluated at both ends and at each step, in milliseconds. */
    series: async (expr: string, { from, to, step }: TimeRange & { readonly step: number }) => {
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
const matrixSchema = z.object({ result: z.array(z.object({ metric: labels, values: z.array(point) })) })
