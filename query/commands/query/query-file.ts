import { z } from 'zod'
import { describeFileError, excerpt } from '../../../src/core/errors.ts'
import { readTextSync } from '../../../src/core/files.ts'
import type { LogQuery } from '../../client/types.ts'
import { LOG_FIELDS } from '../../log-fields.ts'
import { UsageError } from '../../../src/terminal/io.ts'

const hex = (digits: number) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${digits}}$`), `expected 0x and ${digits} hex digits`)
    .transform((text) => text.toLowerCase())
const block = z.int('expected a block number').nonnegative()

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
    .length(1, 'expected one filter: run one query for each'),
  field_selection: z.strictObject({
    log: z.array(z.enum(LOG_FIELDS, `expected fields of a log: ${LOG_FIELDS.join(', ')}`)).min(1),
  }),
})

/** Reads a query from a file with the body of POST /query. Throws a UsageError that lists every error. */
export const readQueryFile = (file: string): LogQuery => {
  const { data, error } = schema.safeParse(readJson(file))
  if (!data) {
    const problems = error.issues.map(({ path, message }) =>
      [file, ...(path.length > 0 ? [path.join('.')] : []), message].join(': '),
    )
    throw invalid(problems.join('\n'))
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

/** A filter of 10,000 addresses and topics has 1 MB. */
const MAX_BYTES = 16 * 1024 * 1024

const readJson = (file: string): unknown => {
  try {
    return JSON.parse(readTextSync(file, MAX_BYTES))
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid(`${file}: it is not JSON: ${excerpt(error.message)}`)
    throw new UsageError(
      `${file} cannot be read: ${describeFileError(error).happened}\n  what to do: check the path after --query`,
    )
  }
}

const invalid = (problems: string): UsageError =>
  new UsageError(
    `${problems}\n  what to do: use the format of the body of POST /query: from_block, to_block, logs with one filter, field_selection.log`,
  )
