import { existsSync } from 'node:fs'

/** Fails at once without a build: many tests start the program, and would wait for it until their limit. */
export const setup = (): void => {
  const missing = ['dist/main.js', '.cache/modules/src/main.js'].find((file) => !existsSync(file))
  if (missing !== undefined) throw new Error(`The tests need ${missing}: run \`npm run check\`, which builds it.`)
}
