import { z } from 'zod'
import { tryJson } from '../core/json.ts'
import { KEY_TYPES } from '../domain/key-paths.ts'

/** The operator's note that a copy of a key exists off the node. */
export type OffNode = z.output<typeof schema>['copies'][number]

const schema = z.object({
  version: z.literal(1),
  copies: z.array(
    z.object({
      key: z.enum(KEY_TYPES),
      /** The public key of the pair that was copied. */
      publicKey: z.string(),
      /** Free text of the operator: "safe in the office". */
      where: z.string().max(200),
      at: z.string(),
    }),
  ),
})

/** The notes of `chain-agent keys off-node`; undefined if the text is not valid. */
export const parseOffNode = (text: string): readonly OffNode[] | undefined =>
  schema.safeParse(tryJson(text)).data?.copies
