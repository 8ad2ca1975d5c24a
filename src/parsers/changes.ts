import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { tryJson } from '../core/json.ts'

const time = z.iso.datetime()

export const seriesChangeResponse = z
  .object({
    metric: z.string().describe('The name of the metric; of a histogram without `_sum` and `_count`.'),
    labels: z.record(z.string(), z.string()).describe('The labels of the series that changed most.'),
    text: z.string().describe('The change in words.'),
    kind: z
      .enum(['value', 'rate', 'age', 'mean', 'difference'])
      .describe(
        'What is compared: the value, its increase per second, the age of a timestamp in seconds, the mean of the observations of a histogram, or the difference from the value that it had all the time before.',
      ),
    from: z.number().nullable().describe('The usual value before the window; null if it was absent.'),
    to: z.number().nullable().describe('The value while it differed; null if it is absent.'),
    sinceAt: time.describe('The first sample that differed.'),
    untilAt: time.nullable().describe('The first later sample that did not; null if it differed until the end.'),
    score: z
      .number()
      .describe('The share of the window in which it differed, from 0 to 1, less its share of the time before.'),
    others: z.int().describe('The number of further series of the metric that changed.'),
    with: z
      .array(z.string())
      .readonly()
      .describe('Further metrics that became absent at the same time, appeared, or stopped.'),
  })
  .describe('A metric that changed.')

export const changesResponse = z
  .object({
    fromAt: time.describe('The start of the window.'),
    toAt: time.describe('The end of the window.'),
    comparedFromAt: time
      .nullable()
      .describe('The first sample with which it is compared; null if there is none before the window.'),
    oldestAt: time.nullable().describe('The oldest sample of the agent; null before the first.'),
    newestAt: time.nullable().describe('The last sample of the window; null if there is none.'),
    changes: z.array(seriesChangeResponse).readonly().describe('The metrics that changed, most first.'),
  })
  .describe('The metrics that differ in a window of time from the hour before it.')

export type ChangesResponse = z.output<typeof changesResponse>

/** The response of /api/v1/changes. Throws a ParseError. */
export const parseChanges = (text: string): ChangesResponse => {
  const { data } = changesResponse.safeParse(tryJson(text))
  if (data) return data
  throw new ParseError('the changes', 'the JSON of /api/v1/changes of this version', text)
}
