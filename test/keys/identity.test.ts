import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { keyPairOf } from '../../simulator/keystore/keystore-file.ts'
import { type Bench, createBench, KEY_TYPES, type KeyType, RECIPIENT, runKeys, secretOf } from './bench.ts'

let bench: Bench
beforeEach(async () => {
  bench = await createBench()
  // Earlier backups of the bench have no public key; these have one.
  const { code, err } = await runKeys(bench, ['backup'])
  if (code !== 0) throw new Error(err)
})

const judged = z.array(
  z.object({
    key: z.string(),
    isWell: z.boolean(),
    identity: z.array(z.object({ source: z.string(), isSame: z.boolean().nullable() })),
  }),
)

const publicKeyOf = (type: KeyType, whose: 'own' | 'other' = 'own'): string =>
  keyPairOf({ secret: Buffer.from(secretOf(type, whose), 'hex'), version: 2 }, type).publicKey

const OWN = { secp: publicKeyOf('secp'), bls: publicKeyOf('bls') }
const OTHER = { secp: publicKeyOf('secp', 'other'), bls: publicKeyOf('bls', 'other') }
const runsOf = async (): Promise<string> => readFile(join(bench.folder, 'status.runs'), 'utf8').catch(() => '')

/** A status tool that reports these keys, and counts its runs. */
const placeStatus = async (keys: Readonly<Record<KeyType, string>>): Promise<void> => {
  const report = `version: 0.16.1\nconfig:\n  chainId: 1\n  secpPublicKey: ${keys.secp}\n  blsPublicKey: ${keys.bls}\n`
  const script = `#!/bin/sh\nprintf x >> '${bench.folder}/status.runs'\nprintf '%s' '${report}'\n`
  await writeFile(join(bench.folder, 'bin/chain-status'), script, { mode: 0o755 })
}

const configured = (publicKey: string): string => `--set=node.publicKey=${publicKey}`
const RESTORE = ['restore', '--yes', '--while-running']

it('verify: the keys of the configuration and of the status report match, and the tool runs once', async () => {
  await placeStatus(OWN)
  const { code, out } = await runKeys(bench, ['verify', configured(OWN.secp)])
  expect(code, out).toBe(0)
  expect(out).toContain('the same as node.publicKey in the configuration')
  expect(out.match(/the same as the key that chain-status reports/g)).toHaveLength(2)
  expect(await runsOf()).toBe('x')
})

it('verify: another key in the configuration fails and is named with ours', async () => {
  const { code, out } = await runKeys(bench, ['verify', configured(OTHER.secp)])
  expect(code, out).toBe(1)
  const text = out.replaceAll(/\s+/g, ' ')
  expect(text).toContain(
    `the public key is ${OWN.secp}, but node.publicKey in the configuration is ${OTHER.secp}; check`,
  )
  expect(text).toContain('secp: the backup is NOT ok')
  expect(text).toContain('bls: the backup is ok')
})

it.each(KEY_TYPES)('verify: another %s key in the status report fails', async (type) => {
  await placeStatus({ ...OWN, [type]: OTHER[type] })
  const { code, out } = await runKeys(bench, ['verify', '--json'])
  expect(code, out).toBe(1)
  const told = judged
    .parse(JSON.parse(out))
    .map(({ key, isWell, identity }) => [
      key,
      isWell,
      identity.find(({ source }) => source === 'the key that chain-status reports')?.isSame,
    ])
  expect(told).toEqual(KEY_TYPES.map((key) => [key, key !== type, key !== type]))
})

it.each([
  ['is not installed', () => Promise.resolve(), 'there is no chain-status on PATH'],
  ['fails', async () => writeFile(join(bench.folder, 'bin/chain-status'), 'exit 3\n', { mode: 0o755 }), 'could not'],
  [
    'prints no key',
    async () => placeStatus({ secp: 'error: bad password', bls: '' }),
    'chain-status printed no such key',
  ],
])('verify: a status tool that %s is not compared', async (_, prepare, why) => {
  await prepare()
  const { code, out } = await runKeys(bench, ['verify'])
  expect(code, out).toBe(0)
  const text = out.replaceAll(/\s+/g, ' ')
  expect(text).toContain('not compared with node.publicKey in the configuration: it is not set')
  expect(text.match(/not compared with the key that chain-status reports: /g)).toHaveLength(2)
  expect(text).toContain(why)
})

it('verify --files-only runs no status tool, and compares with the configuration', async () => {
  await placeStatus(OTHER)
  const same = await runKeys(bench, ['verify', '--files-only', configured(OWN.secp)])
  expect(same.code, same.out).toBe(0)
  const other = await runKeys(bench, ['verify', '--files-only', configured(OTHER.secp)])
  expect(other.code, other.out).toBe(1)
  expect(await runsOf()).toBe('')
})

it.each([
  ['the configuration', [configured(OTHER.secp)], () => Promise.resolve()],
  ['the status report', [], async () => placeStatus(OTHER)],
])('restore: another key in %s changes nothing', async (_, more, prepare) => {
  await prepare()
  const before = await bench.look()
  for (const argv of [['restore', '--dry-run'], RESTORE]) {
    const { code, out, err } = await runKeys(bench, [...argv, '--type', 'secp', ...more])
    expect(code, out + err).toBe(1)
    expect(out.replaceAll(/\s+/g, ' ')).toContain('MISMATCH')
    expect(err).toContain(OWN.secp)
    expect(err).toContain(OTHER.secp)
    expect(err).toContain('what to do: nothing was changed')
  }
  expect(await bench.look()).toEqual(before)
})

it('restore: a backup without a public key is compared before anything is replaced', async () => {
  await placeStatus(OTHER)
  await writeFile(bench.backup('secp'), `Keep your IKM secure: ${secretOf('secp')}\n`)
  await rm(bench.keystore('secp'))
  const before = await bench.look()
  const { code, err } = await runKeys(bench, [...RESTORE, '--type', 'secp'])
  expect(code).toBe(1)
  expect(err).toContain(`the public key is ${OWN.secp}, but`)
  expect(await bench.look()).toEqual(before)
})

it('restore --replace-identity overrides the status report, and not the configuration', async () => {
  await placeStatus(OTHER)
  await bench.putKeystore('secp', 'other')
  const argv = [...RESTORE, '--type', 'secp', '--replace-identity']
  const refused = await runKeys(bench, [...argv, configured(OTHER.secp)])
  expect(refused.code, refused.err).toBe(1)
  expect(refused.err).toContain('set node.publicKey')
  expect(await bench.opens('secp')).toBe(secretOf('secp', 'other'))
  const restored = await runKeys(bench, [...argv, configured(OWN.secp)])
  expect(restored.code, restored.err).toBe(0)
  expect(await bench.opens('secp')).toBe(secretOf('secp'))
})

const exportTo = (recipient: string) => ['export', '--recipient', recipient, '-o', bench.folder]

it('export: a backup of another key is not exported', async () => {
  await placeStatus(OTHER)
  const { code, err } = await runKeys(bench, exportTo(RECIPIENT))
  expect(code).toBe(1)
  expect(err).toContain(`the public key is ${OWN.secp}, but`)
  await expect(readFile(join(bench.folder, 'secp-backup.age'))).rejects.toThrow('ENOENT')
  await placeStatus(OWN)
  expect(await runKeys(bench, exportTo(RECIPIENT))).toMatchObject({ code: 0 })
})

it.each([
  // The placeholder of the documentation.
  ['age1YOUR-RECIPIENT', 'not a valid age recipient'],
  ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p', "the public example of age's README"],
  ['AGE1YT3TFQLFRWDWX0Z0YNWPLCR6QXCXFAQYCUPRPMY89NR83LTX74TQDPSZLW', "the public example of sops' README"],
])('export: the recipient %s is rejected, with how to create one', async (recipient, why) => {
  const { code, err } = await runKeys(bench, exportTo(recipient))
  expect(code).toBe(1)
  expect(err).toContain(why)
  expect(err).toContain('`age-keygen -o KEYFILE`')
  await expect(readFile(join(bench.folder, 'secp-backup.age'))).rejects.toThrow('ENOENT')
})
