import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { age, createIdentity, encryptWithPassphrase, probeAge } from '../support/age.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { type Bench, createBench, KEY_TYPES, runKeys, secretOf } from './bench.ts'

const describe = await requireRealPart('age', probeAge)

describe('encrypted copies', () => {
  let bench: Bench
  let identity = ''
  let recipient = ''
  beforeEach(async () => {
    bench = await createBench()
    identity = join(bench.folder, 'identity')
    recipient = await createIdentity(identity)
    for (const type of KEY_TYPES) await bench.putKeystore(type, 'other')
  })
  const restoreFrom = async (...more: readonly string[]) =>
    runKeys(bench, ['restore', '--type=secp', '--yes', '--while-running', ...more])

  it.each([{ armor: [] }, { armor: ['--armor'] }])(
    'can be decrypted by age and contain the backup byte for byte $armor',
    async ({ armor }) => {
      const to = ['--output-directory', bench.folder]
      const ended = await bench.keys('export', '--recipient', recipient, ...to, ...armor)
      expect(ended, ended.stderr).toMatchObject({ code: 0 })
      for (const type of KEY_TYPES) {
        const [encrypted = '', opened = ''] = [`${type}-backup.age`, 'opened'].map((name) => join(bench.folder, name))
        const bytes = await readFile(encrypted)
        expect(bytes.toString('latin1').startsWith('-----BEGIN')).toBe(armor.length > 0)
        expect(bytes.toString('latin1')).not.toContain(secretOf(type))
        await age('-d', '-i', identity, '-o', opened, encrypted)
        expect(await readFile(opened)).toEqual(await readFile(bench.backup(type)))
      }
    },
  )

  it.each([{ armor: [] }, { armor: ['-a'] }])('made by age can be restored $armor', async ({ armor }) => {
    const from = join(bench.folder, 'secp-backup.age')
    await age(...armor, '-r', recipient, '-o', from, bench.backup('secp'))
    const ended = await restoreFrom('--from', from, '--identity', identity)
    expect(ended, ended.err).toMatchObject({ code: 0 })
    expect(await bench.opens('secp')).toBe(secretOf('secp'))
  })

  it('made by `keys export` can be restored, of both types, from a directory', async () => {
    const folder = join(bench.folder, 'vault')
    await mkdir(folder)
    const to = ['--output-directory', folder]
    const exported = await runKeys(bench, ['export', '--recipient', recipient, ...to])
    expect(exported, exported.err).toMatchObject({ code: 0 })
    const from = ['--from', folder, '--identity', identity]
    const ended = await runKeys(bench, ['restore', '--yes', '--while-running', ...from])
    expect(ended, ended.err).toMatchObject({ code: 0 })
    for (const type of KEY_TYPES) expect(await bench.opens(type)).toBe(secretOf(type))
  })

  /** Damages a file, or gives the options that do not fit it. */
  type Damage = (from: string) => Promise<readonly string[]> | readonly string[]
  const wrong: readonly (readonly [name: string, says: RegExp, damage: Damage])[] = [
    [
      'for another identity',
      /decrypt .*none of the identities can decrypt it.*what to do: pass the identity/s,
      async () => {
        const other = join(bench.folder, 'other')
        await createIdentity(other)
        return ['--identity', other]
      },
    ],
    ['without an identity', /--identity/, () => []],
    [
      'damaged',
      /decrypt .*damaged/s,
      async (from) => {
        const bytes = await readFile(from)
        await writeFile(from, bytes.fill(0x41, bytes.length - 1))
        return ['--identity', identity]
      },
    ],
    [
      'cut',
      /decrypt .*damaged/s,
      async (from) => {
        await writeFile(from, (await readFile(from)).subarray(0, 100))
        return ['--identity', identity]
      },
    ],
    [
      'encrypted with a passphrase',
      /passphrase.*age -d/s,
      async (from) => {
        await encryptWithPassphrase(bench.backup('secp'), from)
        return ['--identity', identity]
      },
    ],
    ['with an invalid identity file', /AGE-SECRET-KEY-/, () => ['--identity', bench.environmentFile]],
  ]
  it.each(wrong)('%s: nothing is changed, and the error has the reason', async (_, says, damage) => {
    const from = join(bench.folder, 'secp-backup.age')
    await age('-r', recipient, '-o', from, bench.backup('secp'))
    const more = await damage(from)
    const before = await bench.look()
    const { code, err } = await restoreFrom('--from', from, ...more)
    expect(code, err).toBe(1)
    expect(err).toMatch(says)
    expect(await bench.look()).toEqual(before)
  })

  it('an invalid recipient, or an identity: nothing is written, and no secret is printed', async () => {
    const [, secret = '?'] = /(AGE-SECRET-KEY-\w+)/.exec(await readFile(identity, 'utf8')) ?? []
    const before = await bench.look()
    const to = ['--output-directory', join(bench.folder, 'backup')]
    for (const word of ['age1none', secret]) {
      const { code, out, err } = await runKeys(bench, ['export', '--recipient', word, ...to])
      expect(code).not.toBe(0)
      expect(err).toContain('recipient')
      expect(out + err).not.toContain(secret.slice(15))
    }
    expect(await bench.look()).toEqual(before)
  })
})
