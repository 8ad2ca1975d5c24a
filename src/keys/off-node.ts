import { z } from 'zod'
import { tryJson } from '../core/json.ts'
import { ParseError } from '../core/errors.ts'
import { KEY_TYPES, type KeyType } from '../core/key-paths.ts'
import type { KeyContext } from './key-context.ts'
import { findTemporaryFiles, replaceFile } from './temporary-files.ts'

/** The operator's note that a copy of a key exists off the node. */
export interface OffNode {
  readonly key: KeyType
  /** Of the key that was copied. */
  readonly publicKey: string
  /** Free text of the operator: "safe in the office". */
  readonly where: string
  readonly at: string
}

const schema = z.object({
  version: z.literal(1),
  copies: z.array(
    z.object({
      key: z.enum(KEY_TYPES),
      publicKey: z.string(),
      where: z.string().max(200),
      at: z.string(),
    }),
  ),
})

const NAME = 'off-node.json'
const fileOf = ({ folders }: Pick<KeyContext, 'folders'>): string => `${folders.backupDirectory}/${NAME}`

/** The notes; empty if there is no file. Throws a ParseError if the file is not valid. */
export const readOffNode = async (context: Pick<KeyContext, 'files' | 'folders'>): Promise<readonly OffNode[]> => {
  const file = fileOf(context)
  if ((await context.files.look(file)) === undefined) return []
  const text = (await context.files.read(file)).toString('utf8')
  const note = schema.safeParse(tryJson(text)).data
  if (note) return note.copies
  throw new ParseError(`the note ${file}`, 'what `chain-agent keys off-node` writes', '')
}

/** Writes notes, replacing earlier ones of the same keys. Throws a ParseError if the existing file is not valid. */
export const noteOffNode = async (context: KeyContext, copies: readonly OffNode[]): Promise<void> => {
  const file = fileOf(context)
  const before = await readOffNode(context)
  const others = before.filter(({ key }) => copies.every((copy) => copy.key !== key))
  const text = `${JSON.stringify({ version: 1, copies: [...others, ...copies] }, undefined, 2)}\n`
  for (const path of await findTemporaryFiles(context, file)) await context.files.remove(path)
  await replaceFile(context, { path: file, content: text }, () => Promise.resolve())
}
