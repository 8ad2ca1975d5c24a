import type { program } from './program.ts'

interface Entry {
  readonly program: typeof program
}

const isEntry = (module: unknown): module is Entry =>
  typeof module === 'object' && module !== null && 'program' in module

const loaded: unknown = await import(new URL('../../dist/testing.js', import.meta.url).href)
if (!isEntry(loaded)) throw new Error('dist/testing.js is of another version: npm run build')

/** The program as `npm run build` writes it. Its modules are not those of `src/`: an error of one is no instance of a class of the other. */
export const shipped = loaded.program
