import { z } from 'zod'
import type { Answer } from '../../support/query-chain.ts'

const answerSchema = z.looseObject({
  data: z.array(z.looseObject({ logs: z.array(z.looseObject({ log_index: z.number() })) })),
})

/** Changes a field in each second log of a block, as a service that ignores the filter. */
const altered =
  (field: string, value: string) =>
  (answer: Answer): Answer => {
    const { data, ...rest } = answerSchema.parse(answer)
    const alter = (log: { readonly log_index: number }) => (log.log_index === 1 ? { ...log, [field]: value } : log)
    return { ...rest, data: data.map((entry) => ({ ...entry, logs: entry.logs.map(alter) })) }
  }

export const withOtherContract = altered('address', `0x${'66'.repeat(20)}`)
export const withOtherTopic = altered('topic0', `0x${'4d'.repeat(32)}`)
