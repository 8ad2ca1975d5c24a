import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createKeyExaminer, type KeyFile } from '../../src/collectors/keys/files.ts'
import { createKeyFiles, keyFiles, type KeyFiles } from '../../src/sources/key-files.ts'
import { createKeyDirectory, probeTmpfs, SHM } from '../support/key-files.ts'
import { probeRoot } from '../support/ordinary-user.ts'
import { requireRealPart } from '../support/real-parts.ts'

const withRoot = await requireRealPart('root and tmpfs', async () => {
  const root = probeRoot()
  return 'missing' in root ? root : probeTmpfs()
})
const readPrefix = () => Promise.resolve({ word: 'zephyr', from: 'configuration' as const })

let node: Awaited<ReturnType<typeof createKeyDirectory>>
beforeEach(async () => {
  node = await createKeyDirectory({ hex: 'cafe1234'.repeat(8), word: 'CanaryOfKeys8Z3q' })
})
afterEach(async () => {
  await node.remove()
})

const wordsOf = (files: readonly KeyFile[]): readonly string[] =>
  files.map(({ key, kind, state, why }) => `${key} ${kind}: ${state ?? 'unknown'}, ${why ?? ''}`)

describe('a file that cannot be read', () => {
  const examine = async () => {
    const files: KeyFiles = { ...keyFiles, read: () => Promise.resolve('failed') }
    const check = createKeyExaminer({ files, readPrefix, places: node.places })
    return wordsOf(await check(new AbortController().signal))
  }
  test('because its disk fails is not a file without permission', async () => {
    expect(new Set((await examine()).map((words) => words.replace(/.*: /, '')))).toEqual(
      new Set(['unknown, the file system returns errors']),
    )
  })
  test('is exposed if its mode is too open', async () => {
    await chmod(node.paths['bls backup'], 0o644)
    expect(await examine()).toContain('bls backup: exposed, mode 0644')
  })
})

withRoot('a home directory that systemd replaced', () => {
  test('hides keystores, and its owner is not the user of the node', async () => {
    const home = await mkdtemp(join(SHM, 'home-'))
    try {
      await mkdir(join(home, 'zephyr/zephyr-bft/config'), { recursive: true })
      await chown(node.paths['secp backup'], 64_001, 64_001)
      const examine = createKeyExaminer({
        files: createKeyFiles([home]),
        readPrefix,
        places: {
          ...node.places,
          directory: `${home}/{prefix}/{prefix}-bft`,
          environmentFile: `${home}/{prefix}/.env`,
        },
      })
      const unknown = 'unknown, no permission to access its directory'
      expect(wordsOf(await examine(new AbortController().signal))).toEqual([
        `secp keystore: ${unknown}`,
        `bls keystore: ${unknown}`,
        `password keystore: ${unknown}`,
        'secp backup: ok, ',
        'bls backup: ok, ',
        'password backup: ok, ',
      ])
    } finally {
      await rm(home, { recursive: true })
    }
  })
})
