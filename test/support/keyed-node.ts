import { createHash } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keyPairOf, sealKeystore } from '../../simulator/keystore/keystore-file.ts'
import { toolReleaseOf } from '../../simulator/keystore/keystore-tool.ts'

const TYPES = ['secp', 'bls'] as const

/** How the line with the password is written. */
const WRITTEN = {
  bare: (word: string) => `KEYSTORE_PASSWORD=${word}`,
  single: (word: string) => `KEYSTORE_PASSWORD='${word}'`,
  double: (word: string) => `KEYSTORE_PASSWORD="${word}"`,
  exported: (word: string) => `export KEYSTORE_PASSWORD='${word}'`,
} as const

interface Options {
  /** The secrets are worked out from it: two nodes of one name have the same. */
  readonly name?: string
  readonly password?: string
  readonly written?: keyof typeof WRITTEN
  /** Of the keystores: 1 as they were made before v0.11, whose secret is the private key itself. */
  readonly keystoreVersion?: 1 | 2
  /** Whether there are backups already, as the newest tool prints them. */
  readonly hasBackups?: boolean
  /** A directory that is there, and into which all is put; a new one by default. */
  readonly root?: string
}

/** What a node has of keys, on a real disk, with keystores that its tool can open; all files are private. */
export const createKeyedNode = async (options: Options = {}) => {
  const { name = 'a', password = `pass word-${name}`, written = 'single' } = options
  const { keystoreVersion: version = 2, hasBackups = false } = options
  const root = options.root ?? (await mkdtemp(join(tmpdir(), 'chain-agent-keyed-')))
  const node = join(root, 'home/chain/chain-bft')
  const places = {
    config: join(node, 'config'),
    environmentFile: join(root, 'home/chain/.env'),
    backup: join(root, 'backup'),
    bin: join(root, 'bin'),
  }
  for (const folder of [places.config, places.backup, places.bin]) {
    await mkdir(folder, { recursive: true })
    await chmod(folder, 0o755)
  }
  const put = async (path: string, content: string): Promise<void> => {
    await writeFile(path, content)
    await chmod(path, 0o600)
  }
  const backups = {
    secp: join(places.backup, 'secp-backup'),
    bls: join(places.backup, 'bls-backup'),
    password: join(places.backup, 'keystore-password-backup'),
  }
  const keystores = { secp: join(places.config, 'id-secp'), bls: join(places.config, 'id-bls') }
  const sealed = {
    secp: { secret: secretOf(name, 'secp'), version },
    bls: { secret: secretOf(name, 'bls'), version },
  }
  await put(places.environmentFile, `CHAIN=test\n${WRITTEN[written](password)}\n`)
  for (const type of TYPES) {
    await put(keystores[type], sealKeystore({ ...sealed[type], password }))
    if (hasBackups) await put(backups[type], printed(sealed[type], type))
  }
  if (hasBackups) await put(backups.password, `Keystore password: ${password}\n`)
  return {
    root,
    ...places,
    /** For `--set` and the environment: what the agent's configuration calls them. */
    settings: {
      'node.directory': node,
      'node.environmentFile': places.environmentFile,
      'node.backupDirectory': places.backup,
      prefix: 'chain',
    },
    keystores,
    backups,
    password,
    secrets: { secp: sealed.secp.secret.toString('hex'), bls: sealed.bls.secret.toString('hex') },
    keys: { secp: keyPairOf(sealed.secp, 'secp'), bls: keyPairOf(sealed.bls, 'bls') },
    put,
    remove: async () => rm(root, { recursive: true, force: true }),
  }
}

/** What `recover` of the newest version prints. */
const printed = (sealed: Parameters<typeof keyPairOf>[0], type: 'secp' | 'bls'): string => {
  const era = toolReleaseOf('0.16.1')
  const lines = [era.beginning, ...era.recovered(sealed), ...era.keys(keyPairOf(sealed, type), type)]
  return `${lines.join('\n')}\n`
}

const secretOf = (name: string, type: string): Buffer =>
  createHash('sha256').update(`secret of ${name} ${type}`).digest()
