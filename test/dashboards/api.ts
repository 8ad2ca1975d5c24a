import { z } from 'zod'

/** A series of a query result; an instant query has one point. Times in seconds since the epoch. */
export interface Answered {
  readonly labels: Readonly<Record<string, string>>
  readonly points: readonly (readonly [at: number, value: number])[]
}

export interface Span {
  readonly from: number
  readonly to: number
}

/** Queries a Prometheus. Throws a QueryError with its message if it rejects a query. */
export interface Api {
  instant(expression: string, at: number): Promise<readonly Answered[]>
  range(expression: string, span: Span & { readonly step: number }): Promise<readonly Answered[]>
  labelValues(label: string, span: Span, match?: string): Promise<readonly string[]>
}

export class QueryError extends Error {}

export const createApi = (origin: string): Api => {
  const ask = async (path: string, parameters: Readonly<Record<string, string | number>>) => {
    const url = new URL(`/api/v1/${path}`, origin)
    for (const [name, value] of Object.entries(parameters)) url.searchParams.append(name, String(value))
    const answer = answerSchema.parse(await (await fetch(url)).json())
    if (answer.status === 'error') throw new QueryError(answer.error)
    return answer.data
  }
  return {
    instant: async (query, time) => {
      const data = dataSchema.parse(await ask('query', { query, time }))
      if (data.resultType === 'vector')
        return data.result.map(({ metric, value }) => ({ labels: metric, points: [value] }))
      if (data.resultType === 'scalar') return [{ labels: {}, points: [data.result] }]
      throw new QueryError(`an instant query that answers with a ${data.resultType}`)
    },
    range: async (query, { from, to, step }) => {
      const data = dataSchema.parse(await ask('query_range', { query, start: from, end: to, step }))
      if (data.resultType !== 'matrix') throw new QueryError(`a range of a ${data.resultType}`)
      return data.result.map(({ metric, values }) => ({ labels: metric, points: values }))
    },
    labelValues: async (label, { from, to }, match) => {
      const scope = match === undefined ? {} : { 'match[]': match }
      return z.array(z.string()).parse(await ask(`label/${label}/values`, { start: from, end: to, ...scope }))
    },
  }
}

const answerSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('success'), data: z.unknown() }),
  z.object({ status: z.literal('error'), error: z.string() }),
])

const labels = z.record(z.string(), z.string())
const point = z.tuple([z.number(), z.string().transform(Number)])
const dataSchema = z.discriminatedUnion('resultType', [
  z.object({ resultType: z.literal('vector'), result: z.array(z.object({ metric: labels, value: point })) }),
  z.object({
    resultType: z.literal('matrix'),
    result: z.array(z.object({ metric: labels, values: z.array(point) })),
  }),
  z.object({ resultType: z.literal('scalar'), result: point }),
  z.object({ resultType: z.literal('string'), result: z.unknown() }),
])
