import { resolvePath } from '../../core/key-paths.ts'
import type { KeyFiles } from '../../sources/key-files.ts'
import type { ReadPrefix } from '../../sources/prefix.ts'

/** Replaces `{prefix}` in the names of units. */
export interface Names {
  one(template: string, signal: AbortSignal): Promise<string>
  /** The same keys with whole names, in the same order. */
  all(
    templates: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, string>>
}

export const createNames = (readPrefix: ReadPrefix): Names => ({
  one: async (template, signal) => fill(template, (await readPrefix(signal)).word),
  all: async (templates, signal) => {
    const { word } = await readPrefix(signal)
    return new Map(Object.entries(templates).map(([key, template]) => [key, fill(template, word)]))
  },
})

/** Replaces `{prefix}` in a path of the node. */
export type ReadPath = (template: string, signal: AbortSignal) => Promise<string>

export const createReadPath =
  (readPrefix: ReadPrefix, files: Pick<KeyFiles, 'look'>): ReadPath =>
  async (template, signal) =>
    resolvePath(template, { prefix: (await readPrefix(signal)).word, files })

const fill = (template: string, word: string): string => template.replaceAll('{prefix}', word)
