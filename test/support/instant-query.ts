import { z } from 'zod'

export interface Series {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** An instant query by the interface of Prometheus, which others have, too; `others` are its further parameters. */
export const instantQuery = async (
  address: string,
  expression: string,
  others: Readonly<Record<string, string>> = {},
): Promise<readonly Series[]> => {
  const url = new URL(`http://${address}/api/v1/query`)
  for (const [name, value] of Object.entries({ query: expression, ...others })) url.searchParams.set(name, value)
  const { data } = answer.parse(await (await fetch(url)).json())
  return data.result.map(({ metric, value: [, value] }) => ({
    labels: metric,
    value: Number(value),
  }))
}

const answer = z.object({
  status: z.literal('success'),
  data: z.object({
    result: z.array(
      z.object({
        metric: z.record(z.string(), z.string()),
        value: z.tuple([z.number(), z.string()]),
      }),
    ),
  }),
})
