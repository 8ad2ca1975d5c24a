import type { Io } from '../io.ts'

/** Writes, and waits for a reader that is slower than we. What a reader that has gone away misses is lost. */
export const send = async ({ stdout }: Pick<Io, 'stdout'>, text: string): Promise<void> => {
  if (text === '' || stdout.destroyed) return
  await new Promise<void>((resolve) => {
    stdout.write(text, () => {
      resolve()
    })
  })
}
