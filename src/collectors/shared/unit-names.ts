import type { ReadPrefix } from '../../sources/prefix.ts'

/** Replaces `{prefix}` in the names of systemd units with the name prefix of the node. */
export interface UnitNames {
  one(template: string, signal: AbortSignal): Promise<string>
  /** Returns the same keys with the resolved names, in the same order. */
  all(templates: Readonly<Record<string, string>>, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
}

export const createUnitNames = (readPrefix: ReadPrefix): UnitNames => ({
  one: async (template, signal) => fill(template, (await readPrefix(signal)).word),
  all: async (templates, signal) => {
    const { word } = await readPrefix(signal)
    return new Map(Object.entries(templates).map(([key, template]) => [key, fill(template, word)]))
  },
})

const fill = (template: string, word: string): string => template.replaceAll('{prefix}', word)
