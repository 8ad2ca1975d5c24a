import { readFileSync } from 'node:fs'
import { z } from 'zod'

const manifest = z.object({ version: z.string(), revision: z.string().default('') })

/** Which agent this is, from its own package.json. The revision is there where a release has put it in. */
export const { version, revision } = manifest.parse(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
)
