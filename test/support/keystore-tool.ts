import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `fixtures/bin/keystore.mjs` can be made to do. */
export type KeystoreBehaviour =
  | 'normal'
  /** Prints without end. */
  | 'mad'
  /** Ignores the polite signal. */
  | 'hang'
  | 'exits-0-with-nothing'
  /** What `import` writes opens with the password, and holds another key. */
  | 'other-secret'
  /** 63 digits. */
  | 'short-secret'
  /** The second of them is another. */
  | 'two-secrets'
  /** The last line is not ended. */
  | 'no-newline'
  /** `import` and `create` leave an empty file; `recover` works. */
  | 'disk-full'

/** Releases, one of each row of what is known of the tool, oldest first. */
export const KEYSTORE_VERSIONS = ['0.10.4', '0.11.5', '0.12.0', '0.16.1'] as const

interface Options {
  /** Which is to be on PATH; it is made. */
  readonly directory: string
  readonly version?: string
  readonly prefix?: string
  readonly behaviour?: KeystoreBehaviour
  /** Whether the arguments of each call are written down, secrets and all. */
  readonly isLogged?: boolean
}

interface KeystoreTool {
  /** The program itself. */
  readonly path: string
  /** The arguments of each call so far, where they are logged. */
  calls(): Promise<readonly (readonly string[])[]>
}

/** Puts `PREFIX-keystore` into a directory. It needs no PATH and no environment, and can be put there again. */
export const placeKeystoreTool = async (options: Options): Promise<KeystoreTool> => {
  const { directory, version = '0.16.1', prefix = 'chain', behaviour = 'normal', isLogged } = options
  const log = join(directory, `${prefix}-keystore.calls`)
  const settings = JSON.stringify({ prefix, version, behaviour, ...(isLogged && { log }) })
  const words = [process.execPath, PROGRAM, settings].map(quote).join(' ')
  const path = join(directory, `${prefix}-keystore`)
  await mkdir(directory, { recursive: true })
  await writeFile(path, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
  return {
    path,
    calls: async () => {
      const lines = existsSync(log) ? (await readFile(log, 'utf8')).trimEnd().split('\n') : []
      return lines.map(wordsOf)
    },
  }
}

const PROGRAM = fileURLToPath(new URL('../fixtures/bin/keystore.mjs', import.meta.url))

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

const wordsOf = (line: string): readonly string[] => {
  const words: unknown = JSON.parse(line)
  return Array.isArray(words) ? words.map(String) : []
}
