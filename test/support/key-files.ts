import { chmod, mkdir, mkdtemp, rm, statfs, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Probe } from './real-parts.ts'

const PRIVATE = 0o600
const TMPFS_MAGIC = 0x01021994

/** What a unit with ProtectHome=tmpfs finds in the place of homes is of this kind; every Linux has it here. */
export const SHM = '/dev/shm'

export const probeTmpfs = async (): Promise<Probe> => {
  const type = (await statfs(SHM).catch(() => undefined))?.type
  return type === TMPFS_MAGIC ? { version: '' } : { missing: `${SHM} is not a tmpfs` }
}

/** The key files of a node as they should be, on a real disk, all of them holding secrets of the test's. */
export const createKeyDirectory = async (secret: { hex: string; word: string }) => {
  const root = await mkdtemp(join(tmpdir(), 'chain-agent-keys-'))
  const places = {
    directory: join(root, 'home/{prefix}/{prefix}-bft'),
    environmentFile: join(root, 'home/{prefix}/.env'),
    backupDirectory: join(root, 'backup'),
  }
  const home = join(root, 'home/zephyr')
  const keystore = JSON.stringify({
    ciphertext: secret.hex,
    checksum: secret.hex,
    cipher: { cipher_function: 'AES_128_CTR', params: { iv: secret.hex } },
    kdf: { kdf_name: 'scrypt', params: { salt: secret.hex } },
    hash: 'SHA256',
    note: secret.word,
  })
  const backup = `Recovering secret from keystore file...\nKeystore secret: ${secret.hex}\nnote ${secret.word}\n`
  const paths = {
    'secp keystore': join(home, 'zephyr-bft/config/id-secp'),
    'bls keystore': join(home, 'zephyr-bft/config/id-bls'),
    'environment file': join(home, '.env'),
    'secp backup': join(root, 'backup/secp-backup'),
    'bls backup': join(root, 'backup/bls-backup'),
    'password backup': join(root, 'backup/keystore-password-backup'),
  }
  const put = async (path: string, content: string, mode = PRIVATE): Promise<void> => {
    await writeFile(path, content)
    await chmod(path, mode)
  }
  await mkdir(join(home, 'zephyr-bft/config'), { recursive: true })
  await mkdir(join(root, 'backup'))
  for (const key of ['secp', 'bls'] as const) {
    await put(paths[`${key} keystore`], keystore)
    await put(paths[`${key} backup`], backup)
  }
  await put(paths['environment file'], `A=b\nKEYSTORE_PASSWORD='${secret.word}'\n`)
  await put(paths['password backup'], `Keystore password: ${secret.word}\n`)
  return {
    root,
    places,
    paths,
    contents: { keystore, backup },
    put,
    remove: async () => rm(root, { recursive: true }),
  }
}
