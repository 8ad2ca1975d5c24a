import { type Checkpoints, createCheckpoints } from './checkpoint.ts'

/**
 * What the running agent remembers, for whoever only looks: nothing is written, and the places in the
 * journal are left out, since who looks once begins where he wants.
 */
export const createReadOnlyCheckpoints = (directory: string): Checkpoints => {
  // What cannot be read is nothing: the running agent says why.
  const { open } = createCheckpoints(directory, () => undefined)
  return {
    open: (name) => ({
      read: async () => {
        const found = await open(name).read()
        return found.state === 'saved' && !isPlace(found.value) ? found : { state: 'none' }
      },
      save: () => undefined,
    }),
    flush: () => Promise.resolve(),
  }
}

const isPlace = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'cursor' in value
