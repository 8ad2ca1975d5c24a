import { z } from 'zod'

/** A block is final two blocks later: another one for so old a height is not to be expected. */
const HEIGHTS = 128
/** Proposals of one height. */
const BLOCKS = 8

export const executedSchema = z.array(z.tuple([z.string(), z.array(z.string())]))
export type Executed = z.output<typeof executedSchema>

/** Which blocks were executed of the last heights. */
export const createExecutedBlocks = () => {
  const known = new Map<string, string[]>()
  const at = (height: string): string[] => {
    const blocks = known.get(height) ?? []
    known.set(height, blocks)
    const [oldest] = known.keys()
    if (known.size > HEIGHTS && oldest !== undefined) known.delete(oldest)
    return blocks
  }
  return {
    /** Whether another block was executed of that height, and this one never. */
    add: (height: bigint, id: string): boolean => {
      const blocks = at(String(height))
      if (blocks.includes(id)) return false
      blocks.push(id)
      if (blocks.length > BLOCKS) blocks.shift()
      return blocks.length > 1
    },
    /** A copy: it is written later, together with the place in the journal that it belongs to. */
    memory: (): Executed => [...known].map(([height, blocks]) => [height, [...blocks]]),
    restore: (executed: Executed): void => {
      for (const [height, blocks] of executed.slice(-HEIGHTS)) known.set(height, [...blocks])
    },
  }
}
