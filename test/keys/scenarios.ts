import { rm } from 'node:fs/promises'
import { expect } from 'vitest'
import { type Bench, createBench, type Files, KEY_TYPES, secretIn, secretOf, temporaryFilesIn } from './bench.ts'

/** A command and the files that exist before it runs. */
export interface Scenario {
  readonly name: string
  readonly argv: readonly string[]
  readonly prepare: (bench: Bench) => Promise<void> | void
}

const RESTORE = ['restore', '--yes', '--while-running']

export const SCENARIOS: Readonly<Record<'backup' | 'restore', readonly Scenario[]>> = {
  backup: [
    {
      name: 'the first backup',
      argv: ['backup', '--type', 'secp'],
      prepare: async ({ folder }) => rm(`${folder}/backup`, { recursive: true }),
    },
    { name: 'a backup over older ones', argv: ['backup'], prepare: () => undefined },
  ],
  restore: [
    {
      name: 'a restore over other keystores',
      argv: [...RESTORE, '--type', 'bls'],
      prepare: async (bench) => {
        for (const type of KEY_TYPES) await bench.putKeystore(type, 'other')
      },
    },
    {
      name: 'a restore without existing keystores',
      argv: [...RESTORE, '--type', 'secp'],
      prepare: async ({ keystore }) => {
        for (const type of KEY_TYPES) await rm(keystore(type))
      },
    },
  ],
}

export const createScenario = async ({ prepare }: Scenario) => {
  const bench = await createBench({ isPlain: true })
  await prepare(bench)
  return { bench, before: await bench.look() }
}

/** Invariants that hold at any point of any command, whatever has happened to it. */
export const expectIntact = async (bench: Bench, before: Files): Promise<void> => {
  const now = await bench.look()
  for (const [name, { mode }] of Object.entries(now)) {
    if (before[name]?.content !== '(folder)') expect(mode, name).toMatch(/^(?:600|700)$/)
  }
  for (const type of KEY_TYPES) {
    for (const name of [`node/config/id-${type}`, `backup/${type}-backup`]) {
      const current = now[name]?.content
      const old = before[name]?.content
      const kept = Object.entries(now)
        .filter(([path]) => path.startsWith(`${name}.`) && path.endsWith('.bak'))
        .map(([, { content }]) => content)
      // The earlier file always has a name.
      if (old !== undefined) expect([current, ...kept], name).toContain(old)
      // No file is incomplete.
      for (const content of [current, ...kept]) {
        if (content === old) continue
        if (name.startsWith('node')) expect(secretIn(content), name).toBe(secretOf(type))
        else expect(content, name).toBe(freshBackup(type, content))
      }
    }
  }
}

/** The five lines that `recover` prints, with the correct secret in the third. */
const freshBackup = (type: 'secp' | 'bls', text = ''): string => {
  const lines = text.split('\n')
  const named = type === 'secp' ? 'Secp' : 'BLS'
  const [privateKey = '?', publicKey = '?'] = [3, 4].map((at) => lines[at]?.split(': ')[1])
  return [
    'Recovering secret from keystore file...',
    'Keystore version: v2 (Direct IKM)',
    `Keystore secret: ${secretOf(type)}`,
    `${named} private key: ${privateKey.slice(0, 64)}`,
    `${named} public key: ${publicKey.slice(0, type === 'secp' ? 66 : 96)}`,
    '',
  ].join('\n')
}

/** The files that a command leaves, without what differs between runs. */
export const endState = async (bench: Bench) => {
  const now = await bench.look()
  expect(temporaryFilesIn(now)).toEqual([])
  const keystores = await Promise.all(
    KEY_TYPES.map(async (type) => [
      `node/config/id-${type}`,
      await bench.opens(type),
      now[`node/config/id-${type}`]?.mode,
    ]),
  )
  const names = Object.keys(now).filter((name) => !name.endsWith('.bak'))
  const backups = KEY_TYPES.map((type) => now[`backup/${type}-backup`])
  return { keystores, backups, names: names.toSorted() }
}
