import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What `fixtures/bin/keystore.mjs` can be made to do. */
type KeystoreBehaviour =
  | 'normal'
  /** Prints without end. */
  | 'mad'
  | 'exits-0-with-nothing'
  /** What `import` writes opens with the password, and holds another key. */
  | 'other-secret'
  /** 63 digits. */
  | 'short-secret'
  /** The second of them is another. */
  | 'two-secrets'
  /** The last line is not ended. */
  | 'no-newline'
  /** `import` leaves an empty file; `recover` works. */
  | 'disk-full'

/** Releases, one of each output, oldest first. */
export const KEYSTORE_VERSIONS = ['0.10.4', '0.11.5', '0.16.1'] as const

interface Options {
  /** Which is to be on PATH; it is made. */
  readonly directory: string
  readonly version?: string
  readonly behaviour?: KeystoreBehaviour
}

/** Puts `chain-keystore` into a directory. It needs no PATH and no environment, and can be put there again. */
export const placeKeystoreTool = async (options: Options): Promise<void> => {
  const { directory, version = '0.16.1', behaviour = 'normal' } = options
  const words = [process.execPath, PROGRAM, JSON.stringify({ version, behaviour })].map((word) => `'${word}'`).join(' ')
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'chain-keystore'), `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 })
}

const PROGRAM = fileURLToPath(new URL('../fixtures/bin/keystore.mjs', import.meta.url))
