import { existsSync } from 'node:fs'

/** Fails at once without a build: many tests start the program, and would wait for it until their limit. */
export const setup = (): void => {
  if (!existsSync('dist/main.js'))
    throw new Error('The tests start dist/main.js, which does not exist: run `npm run build`.')
}
