import { createHash } from 'node:crypto'
import { copyFile, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { openKeystore, sealKeystore } from '../../simulator/keystore/keystore-file.ts'
import { cli } from '../support/cli.ts'
import { placeKeystoreTool } from '../support/keystore-tool.ts'
import { run } from '../support/programs.ts'

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const PLAIN_TOOL = fileURLToPath(new URL('../fixtures/bin/keystore-in-plain.sh', import.meta.url))
export const PASSWORD = 'Canary passphrase7Q2w9ZxK4mV8'
/** A recipient whose identity was not kept. */
export const RECIPIENT = 'age1hxz8d80jxyt9z8uqhue54n7c43a6ca2ufgpg9ww63ymv72m3py4schrd9a'

export const KEY_TYPES = ['secp', 'bls'] as const
export type KeyType = (typeof KEY_TYPES)[number]

/** The secret of the node, or another one: of a reinstalled host, or of an earlier node on this host. */
export const secretOf = (type: KeyType, whose: 'own' | 'other' = 'own'): string =>
  createHash('sha256').update(`${whose} ${type}`).digest('hex')

/** Path below the bench → mode and content. */
export type Files = Readonly<Record<string, { readonly mode: string; readonly content: string }>>

export type Bench = Awaited<ReturnType<typeof createBench>>

interface Options {
  readonly version?: string
  /** Uses a fast tool that does not encrypt. */
  readonly isPlain?: boolean
  readonly behaviour?: NonNullable<Parameters<typeof placeKeystoreTool>[0]['behaviour']>
}

/** Creates a node's keystores, its environment file, older backups of the same keys, and the tool on PATH, until the end of the test. */
export const createBench = async (options: Options = {}) => {
  const { version, isPlain = false, behaviour = 'normal' } = options
  const folder = await mkdtemp(join(tmpdir(), 'chain-agent-keys-'))
  onTestFinished(async () => {
    await rm(folder, { recursive: true })
    // Staging directories that a killed run has left in /run.
    const left = (await readdir('/run')).filter((name) => name.includes(encodeURIComponent(folder)))
    for (const name of left) await rm(join('/run', name), { recursive: true })
  })
  const bin = join(folder, 'bin')
  const keystore = (type: KeyType): string => join(folder, 'node/config', `id-${type}`)
  const backup = (type: KeyType): string => join(folder, 'backup', `${type}-backup`)
  const environmentFile = join(folder, '.env')
  const config = {
    prefix: 'chain',
    state: { directory: join(folder, 'state') },
    node: { directory: join(folder, 'node'), environmentFile, backupDirectory: join(folder, 'backup') },
  }
  const env = { PATH: `${bin}:/usr/bin:/bin`, HOME: folder }
  /** Writes a keystore in the format of this version of the tool. */
  const putKeystore = async (type: KeyType, whose: 'own' | 'other' = 'own'): Promise<void> => {
    const secret = secretOf(type, whose)
    const sealed = isPlain
      ? `${JSON.stringify({ plain: secret, password: PASSWORD })}\n`
      : sealKeystore({
          secret: Buffer.from(secret, 'hex'),
          version: version?.startsWith('0.10') === true ? 1 : 2,
          password: PASSWORD,
        })
    await writeFile(keystore(type), sealed, { mode: 0o600 })
  }

  await mkdir(join(folder, 'node/config'), { recursive: true })
  await mkdir(join(folder, 'backup'), { mode: 0o700 })
  await mkdir(join(folder, 'state'))
  await placeKeystoreTool({ directory: bin, behaviour, ...(version !== undefined && { version }) })
  if (isPlain) await copyFile(PLAIN_TOOL, join(bin, 'chain-keystore'))
  await writeFile(join(bin, 'systemctl'), '#!/bin/sh\nexit 0\n', { mode: 0o755 })
  await writeFile(environmentFile, `A=b\nKEYSTORE_PASSWORD='${PASSWORD}'\n`, { mode: 0o600 })
  for (const type of KEY_TYPES) {
    await putKeystore(type)
    await writeFile(backup(type), olderBackup(type), { mode: 0o600 })
  }
  const configFile = join(folder, 'config.yaml')
  await writeFile(configFile, JSON.stringify(config))
  const commandLine = (argv: readonly string[]): readonly string[] => [
    process.execPath,
    MAIN,
    'keys',
    ...argv,
    '--config',
    configFile,
  ]

  return {
    folder,
    keystore,
    backup,
    environmentFile,
    config,
    env,
    putKeystore,
    commandLine,
    keys: async (...argv: readonly string[]) => {
      const [program = '', ...words] = commandLine(argv)
      return run(program, words, { env, extendEnv: false, timeout: 240_000 })
    },
    look: async (): Promise<Files> => filesBelow(folder, ['node', 'backup']),
    modes: (...paths: readonly string[]): Promise<readonly string[]> =>
      Promise.all(paths.map(async (path) => ((await lstat(join(folder, path))).mode & 0o7777).toString(8))),
    /** The secret that the node would read from its keystore; undefined if the keystore is not valid. */
    opens: async (type: KeyType): Promise<string | undefined> =>
      secretIn(await readFile(keystore(type), 'utf8').catch(() => '')),
  }
}

/** Runs a `keys` command in this process, which is faster than a process of its own. One at a time. */
export const runKeys = async ({ config, env }: Bench, argv: readonly string[]) => {
  const places = Object.entries(config.node).map(([key, value]) => `--set=node.${key}=${value}`)
  return cli(['keys', ...argv, '--prefix=chain', ...places], { env })
}

/** The secret in a keystore; undefined if the password does not open it. */
export const secretIn = (keystore = ''): string | undefined => {
  const [, plain] = /^\{"plain":"([0-9a-f]{64})","password":"[^"]*"\}\n$/.exec(keystore) ?? []
  if (plain !== undefined) return plain
  try {
    return openKeystore(keystore, PASSWORD).secret.toString('hex')
  } catch {
    return undefined
  }
}

/** A backup of the same secret; its label differs from that of a new one. */
const olderBackup = (type: KeyType): string =>
  [
    'It is recommended to generate key in air-gapped machine to be secure.',
    'This tool is currently not fit for production use.',
    `Keep your IKM secure: ${secretOf(type)}`,
    'Successfully generated keystore file.',
    '',
  ].join('\n')

const filesBelow = async (root: string, folders: readonly string[]): Promise<Files> => {
  const found: Record<string, Files[string]> = {}
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const name = join(folder, entry.name)
      if (entry.isDirectory()) Object.assign(found, await filesBelow(root, [name]))
      const { mode } = await lstat(join(root, name))
      const content = entry.isFile() ? await readFile(join(root, name), 'utf8') : '(folder)'
      found[name] = { mode: (mode & 0o7777).toString(8), content }
    }
  }
  return found
}

/** Temporary files: none may be left when a command has ended. */
export const temporaryFilesIn = (files: Files): readonly string[] =>
  Object.keys(files).filter((name) => /\/\.[^/]*$/.test(name))
