import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { must } from '../support/programs.ts'

const HERE = import.meta.dirname
const SOURCES = join(HERE, 'contracts')
const CACHE = join(HERE, '../../.cache/evm')

const contractSchema = z
  .object({
    evm: z.object({
      bytecode: z.object({ object: z.string().regex(/^[0-9a-f]*$/u) }),
      methodIdentifiers: z.record(z.string(), z.string()),
    }),
  })
  .transform(({ evm }) => ({ code: evm.bytecode.object, methods: evm.methodIdentifiers }))

const outputSchema = z.object({
  errors: z.array(z.object({ severity: z.string(), formattedMessage: z.string() })).optional(),
  contracts: z.record(z.string(), z.record(z.string(), contractSchema)).optional(),
})

/** What the compiler made of a contract: its code, and the first four bytes of a call of each method. */
export type Contract = z.output<typeof contractSchema>

/** All contracts in `contracts/` by name; compiled once per version of the sources and the compiler. */
export const compiled = async (): Promise<ReadonlyMap<string, Contract>> => {
  const sources: Record<string, { content: string }> = {}
  for (const file of (await readdir(SOURCES)).toSorted()) {
    sources[file] = { content: await readFile(join(SOURCES, file), 'utf8') }
  }
  const input = JSON.stringify({
    language: 'Solidity',
    sources,
    settings: {
      evmVersion: 'cancun',
      optimizer: { enabled: true, runs: 200 },
      outputSelection: { '*': { '*': ['evm.bytecode.object', 'evm.methodIdentifiers'] } },
    },
  })
  const output = outputSchema.parse(JSON.parse(await cached(input)))
  const errors = output.errors?.filter(({ severity }) => severity === 'error') ?? []
  if (errors.length > 0) throw new Error(errors.map((each) => each.formattedMessage).join('\n'))
  return new Map(Object.keys(sources).flatMap((file) => Object.entries(output.contracts?.[file] ?? {})))
}

const cached = async (input: string): Promise<string> => {
  const lock = await readFile(join(HERE, 'package-lock.json'), 'utf8')
  const file = join(CACHE, `${createHash('sha256').update(lock).update(input).digest('hex')}.json`)
  const known = await readFile(file, 'utf8').catch(() => undefined)
  if (known !== undefined) return known
  const solc = join(HERE, 'node_modules/solc/solc.js')
  const args = [solc, '--standard-json', '--base-path', SOURCES]
  const words = await must(process.execPath, [...args, '--include-path', join(HERE, 'node_modules')], { input })
  // The compiler may print a message before the JSON.
  const output = words.slice(words.indexOf('{'))
  await mkdir(CACHE, { recursive: true })
  await writeFile(`${file}.new`, output)
  await rename(`${file}.new`, file)
  return output
}
