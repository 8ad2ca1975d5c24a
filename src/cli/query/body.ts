import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { ConfigError } from '../../core/errors.ts'
import { asError } from '../../core/outcome.ts'
import { LOG_FIELDS, type LogQuery } from '../../query/client/types.ts'

const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`), `expected 0x and ${digits} hex digits`)
    .transform((text) => text.toLowerCase())
const block = z.int('expected the number of a block').nonnegative()

const schema = z.strictObject({
  from_block: block,
  to_block: block.nullish(),
  logs: z
    .array(
      z.strictObject({
        address: z.array(hex(40)).default([]),
        topics: z
          .array(z.array(hex(64)))
          .max(4, 'expected at most four positions')
          .default([]),
      }),
    )
    .length(1, 'expected one filter: ask for each of several by itself'),
  field_selection: z.strictObject({
    log: z.array(z.enum(LOG_FIELDS, `expected fields of a log: ${LOG_FIELDS.join(', ')}`)).min(1),
  }),
})

/** A query as the body of POST /query, from a file. Throws a ConfigError that names every mistake. */
export const readBody = async (file: string): Promise<LogQuery> => {
  let value: unknown
  try {
    value = JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`${file}: ${asError(error).message}`, { cause: error })
  }
  const { data, error } = schema.safeParse(value)
  if (!data) {
    const problems = error.issues.map(
      ({ path, message }) => `${file}: ${path.join('.')}: ${message}`,
    )
    throw new ConfigError(problems.join('\n'))
  }
  const [filter] = data.logs
  return {
    addresses: filter?.address ?? [],
    topics: filter?.topics ?? [],
    fields: data.field_selection.log,
    fromBlock: data.from_block,
    toBlock: data.to_block ?? null,
  }
}
