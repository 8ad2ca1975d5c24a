import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keys } from '../../src/collectors/keys/collector.ts'
import { createKeyExaminer, type KeyFile } from '../../src/collectors/keys/files.ts'
import { createKeyFiles, keyFiles, type KeyFiles } from '../../src/sources/key-files.ts'
import { createKeyDirectory, probeTmpfs, SHM } from '../support/key-files.ts'
import { manualClock } from '../support/manual-clock.ts'
import { probeRoot } from '../support/ordinary-user.ts'
import { requireRealPart } from '../support/real-parts.ts'

const withRoot = await requireRealPart('root and tmpfs', async () => {
  const root = probeRoot()
  return 'missing' in root ? root : probeTmpfs()
})
const timing = { interval: 60_000, timeout: 10_000 }
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

test('a home directory that hangs is read once, and the rest is checked', async () => {
  const home = join(node.root, 'home')
  const lookups: string[] = []
  const answers: (() => void)[] = []
  let hangs = true
  /** Number of pending calls to the real disk. */
  let busy = 0
  const working = async <T>(work: () => Promise<T>): Promise<T> => {
    busy += 1
    try {
      return await work()
    } finally {
      busy -= 1
    }
  }
  const files: KeyFiles = {
    maxBytes: keyFiles.maxBytes,
    look: async (path) => {
      lookups.push(path)
      if (hangs && path.startsWith(home)) await new Promise<void>((resolve) => answers.push(resolve))
      return working(() => keyFiles.look(path))
    },
    read: (path, judge) => working(() => keyFiles.read(path, judge)),
    list: (path) => working(() => keyFiles.list(path)),
  }
  const collector = keys({
    examine: createKeyExaminer({ files, readPrefix, places: node.places }),
    timing,
  })
  const [stop, clock] = [new AbortController(), manualClock()]
  const reported: Readonly<Record<string, string>>[] = []
  void collector.run({ clock, signal: stop.signal }, (outcome) => {
    reported.push(outcome.ok ? collector.states(outcome.value) : { failed: outcome.error.message })
  })
  const settle = async (): Promise<void> => {
    for (let quiet = 0; quiet < 5; quiet += 1) {
      await clock.advance(0)
      if (busy > 0) quiet = -1
    }
  }
  /** A poll that hangs times out. */
  const round = async (): Promise<void> => {
    const before = reported.length
    await settle()
    if (reported.length === before) await clock.advance(timing.timeout)
    await settle()
    await clock.advance(timing.interval)
  }
  for (let count = 0; count < 5; count += 1) await round()
  const ofHome = lookups.filter((path) => path.startsWith(home))
  expect(ofHome).toHaveLength(4)
  expect(new Set(ofHome).size).toBe(4)
  const waiting = 'unknown: the file system has not responded yet'
  expect(reported.at(-1)).toMatchObject({
    'secp keystore': waiting,
    'environment file': waiting,
    'secp backup': 'ok',
    'password backup': 'ok',
  })
  hangs = false
  for (const answer of answers.splice(0)) answer()
  for (let count = 0; count < 3; count += 1) await round()
  expect(reported.at(-1)).toMatchObject({ 'secp keystore': 'ok', 'environment file': 'ok' })
  stop.abort()
})
