import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { debianPackage } from './debian.ts'
import { must } from './programs.ts'
import type { Probe } from './real-parts.ts'

/** The original program, of Debian's package, unpacked and not installed. */
const program = async (name: string): Promise<string> => join(await debianPackage('age'), 'usr/bin', name)

/** Throws where the machine does not have it. */
export const probeAge = async (): Promise<Probe> => ({
  version: (await must(await program('age'), ['--version'])).trim(),
})

export const age = async (...args: readonly string[]): Promise<string> => must(await program('age'), args)

/** Writes an identity into the file; the answer is its recipient. */
export const createIdentity = async (file: string): Promise<string> => {
  const text = await must(await program('age-keygen'), [])
  await writeFile(file, `${text}\n`, { mode: 0o600 })
  return /age1\w+/.exec(text)?.[0] ?? 'none'
}

/** It asks a terminal for the passphrase, and takes an empty line for the wish that it make one up. */
export const encryptWithPassphrase = async (from: string, to: string): Promise<void> => {
  const command = `'${await program('age')}' -p -o '${to}' '${from}'`
  await must('script', ['-qec', command, '/dev/null'], { input: '\n', timeout: 240_000 })
}
