import type * as program from './program.ts'

const isProgram = (module: unknown): module is typeof program =>
  typeof module === 'object' && module !== null && 'runCli' in module

const loaded: unknown = await import(new URL('../../dist/testing.js', import.meta.url).href)
if (!isProgram(loaded)) throw new Error('dist/testing.js is of another version: npm run build')

/** The program as `npm run build` writes it. Its modules are not those of `src/`: an error of one is no instance of a class of the other. */
export const shipped = loaded
