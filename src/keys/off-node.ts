import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { KEY_TYPES, type KeyType } from '../core/key-paths.ts'
import type { Kit } from './kit.ts'
import { findUnfinished, putInPlace } from './unfinished.ts'

/** That a copy of a key lies off the node, as somebody has said. */
export interface OffNode {
  readonly key: KeyType
  /** Of the key that was copied. */
  readonly publicKey: string
  /** In his own words: "safe in the office". */
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
const fileOf = ({ folders }: Pick<Kit, 'folders'>): string => `${folders.backupDirectory}/${NAME}`

/** What was noted; nothing where nothing was. Throws a ParseError where the note is none. */
export const readOffNode = async (
  kit: Pick<Kit, 'files' | 'folders'>,
): Promise<readonly OffNode[]> => {
  const file = fileOf(kit)
  if ((await kit.files.look(file)) === undefined) return []
  const text = (await kit.files.read(file)).toString('utf8')
  const note = schema.safeParse(readJson(text)).data
  if (note) return note.copies
  throw new ParseError(`the note ${file}`, 'what `chain-agent keys off-node` writes', '')
}

/** Notes copies, in the place of what was noted of the same keys. Throws a ParseError where the note is none. */
export const noteOffNode = async (kit: Kit, copies: readonly OffNode[]): Promise<void> => {
  const file = fileOf(kit)
  const before = await readOffNode(kit)
  const others = before.filter(({ key }) => copies.every((copy) => copy.key !== key))
  const text = `${JSON.stringify({ version: 1, copies: [...others, ...copies] }, undefined, 2)}\n`
  for (const path of await findUnfinished(kit, file)) await kit.files.remove(path)
  await putInPlace(kit, { path: file, content: text }, () => Promise.resolve())
}

const readJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
