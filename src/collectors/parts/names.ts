import type { ReadPrefix } from '../../sources/prefix.ts'

/** Puts the maker's word into the names of units. */
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

const fill = (template: string, word: string): string => template.replaceAll('{prefix}', word)
