import { readFileSync } from 'node:fs'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findBackupProblem, findKeystoreProblem } from '../../src/parsers/keystore.ts'
import { keystoreTool } from '../../simulator/keystore/key-files.ts'
import { openKeystore, sealKeystore } from '../../simulator/keystore/keystore-file.ts'
import { temporaryFolder } from '../support/directory.ts'

const directory = await temporaryFolder()

const at = (name: string): string => join(directory, name)
const SECRET = '5a'.repeat(32)
const sealed = (version: 1 | 2) => ({ secret: Buffer.from(SECRET, 'hex'), version })

const run = async (...argv: readonly string[]) => {
  const ended = { stdout: '', stderr: '', code: -1 }
  for await (const frame of keystoreTool(argv, new AbortController().signal)) {
    if ('stdout' in frame) ended.stdout += frame.stdout
    if ('stderr' in frame) ended.stderr += frame.stderr
    if ('exit' in frame) ended.code = frame.exit
  }
  return ended
}

const on = (mode: string, name: string, password = 'word') => [
  mode,
  `--password=${password}`,
  '--keystore-path',
  at(name),
  '--key-type',
  'secp',
]
const importing = (secret: string, name = 'id') => [...on('import', name), '--ikm', secret]

/** Replaces all digits of keys with letters: the rest is the text of the tool. */
const shape = (text: string): string => text.replaceAll(/[\da-f]{60,}/gi, (digits) => `(${digits.length} digits)`)
const fixture = (name: string): string => readFileSync(new URL(`../fixtures/keystore/${name}`, import.meta.url), 'utf8')

test('recover: matches the recorded output, for both versions of a keystore', async () => {
  await writeFile(at('two'), sealKeystore({ ...sealed(2), password: 'word' }))
  await writeFile(at('one'), sealKeystore({ ...sealed(1), password: 'word' }))
  const two = await run(...on('recover', 'two'))
  expect(shape(two.stdout)).toBe(shape(fixture('recover-v2.txt')))
  expect(two.stdout).toContain(`\nKeystore secret: ${SECRET}\n`)
  const one = await run(...on('recover', 'one').with(-1, 'bls'))
  expect(shape(one.stdout)).toBe(shape(fixture('recover-v1.txt').replaceAll('\r', '')))
  // In version 1 the secret is the key; in version 2 the key is derived.
  expect(one.stdout).toContain(`\nBLS private key: ${SECRET}\n`)
  expect(two.stdout).not.toContain(`private key: ${SECRET}`)
})

test.each([
  ['wrong password', () => on('recover', 'two', 'another word'), 'ChecksumError(FailedChecksumVerification)'],
  ['no file', () => on('recover', 'none'), 'FileIOError(Os { code: 2, kind: ENOENT })'],
  ['no keystore', () => on('recover', 'cut'), 'InvalidJSONFormat'],
  ['impossible parameters', () => on('recover', 'strange'), 'KDFError(InvalidParams)'],
  ['no directory', () => importing(SECRET, 'none/id'), 'FileIOError(Os { code: 2, kind: ENOENT })'],
  ['too short', () => importing(SECRET.slice(2)), 'InvalidJSONFormat'],
])('fails with exit code 1: %s', async (_, argv, reason) => {
  const text = sealKeystore({ ...sealed(2), password: 'word' })
  await writeFile(at('two'), text)
  await writeFile(at('cut'), fixture('keystore-cut.json'))
  await writeFile(at('strange'), text.replace('"p":1', '"p":0'))
  const { stderr, code } = await run(...argv())
  expect([stderr, code]).toEqual([expect.stringMatching(/^error: (?:unable to recover|keystore file generation)/), 1])
  expect(stderr).toContain(`: ${reason}\n`)
})

/** Created with Python's hashlib and OpenSSL, from the password in NFKD without its control character. */
const MADE_ELSEWHERE = {
  ciphertext: '8ffe9bd870944a2cd5c12c0ee02b8186fe54885fc05696292fdacc3e00b87f27',
  checksum: '4b6dd5e77522b1447f833b55d84e28cea5814e0233ea7fa39a4d89793bc2cfec',
  cipher: {
    cipher_function: 'AES_128_CTR',
    params: { iv: '000102030405060708090a0b0c0d0e0f' },
  },
  kdf: {
    kdf_name: 'scrypt',
    params: {
      salt: '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f',
      key_len: 32,
      n: 2048,
      r: 8,
      p: 1,
    },
  },
  hash: 'SHA256',
}

test('a keystore created by other software opens', () => {
  const text = JSON.stringify(MADE_ELSEWHERE)
  expect(openKeystore(text, 'ﬁrst\u0007 Ångström')).toEqual(sealed(1))
})

describe('import and recover', () => {
  test.each(['', '-dash', 'ﬁrst Ångström', 'quote \' and " and $(x)'])(
    'return the same secret, for the password %j',
    async (password) => {
      const imported = await run(...on('import', 'id', password), '--ikm', `0x${SECRET}`)
      const { stdout, code } = await run(...on('recover', 'id', password))
      expect([imported.code, code]).toEqual([0, 0])
      expect(stdout).toContain(`\nKeystore secret: ${SECRET}\n`)
      expect(stdout.endsWith(imported.stdout.replace('Successfully generated keystore file.\n', ''))).toBe(true)
      expect(findBackupProblem(stdout)).toBeNull()
      const text = await readFile(at('id'), 'utf8')
      expect(findKeystoreProblem(text)).toBeNull()
      expect(JSON.parse(text)).toMatchObject({ version: 2, hash: 'SHA256' })
    },
  )

  test('overwrite without a message, with the mode of a new file under the umask', async () => {
    await run(...importing(SECRET, 'id'))
    await writeFile(at('another'), '')
    expect((await stat(at('id'))).mode).toBe((await stat(at('another'))).mode)
    await chmod(at('id'), 0o600)
    await run(...importing('6b'.repeat(32), 'id'))
    expect((await stat(at('id'))).mode & 0o777).toBe(0o600)
    expect(openKeystore(await readFile(at('id'), 'utf8'), 'word').secret).not.toEqual(sealed(2).secret)
  })
})
