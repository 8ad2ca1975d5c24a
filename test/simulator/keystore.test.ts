import { readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findBackupProblem, findKeystoreProblem } from '../../src/parsers/keystore.ts'
import { createKeystoreTool } from '../../simulator/keystore/keystore-tool.ts'
import { openKeystore, sealKeystore } from '../../simulator/keystore/keystore-file.ts'
import { KEYSTORE_VERSIONS } from '../support/keystore-tool.ts'

let directory = ''
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-keystore-'))
})
afterEach(async () => rm(directory, { recursive: true }))

const at = (name: string): string => join(directory, name)
const [V10, V11, V12, NEWEST] = KEYSTORE_VERSIONS
const SECRET = '5a'.repeat(32)

const run = async (version: string, ...argv: readonly string[]) => {
  const ended = { stdout: '', stderr: '', code: -1 }
  const tool = createKeystoreTool({ prefix: 'chain', version: () => version })
  for await (const frame of tool(argv, new AbortController().signal)) {
    if ('stdout' in frame) ended.stdout += frame.stdout
    if ('stderr' in frame) ended.stderr += frame.stderr
    if ('exit' in frame) ended.code = frame.exit
  }
  return ended
}

/** `create` or `recover` of a file in the directory. */
const on = (mode: string, name: string, password = 'word') => [
  mode,
  '--password',
  password,
  '--keystore-path',
  at(name),
]
const importing = (secret: string, name = 'id', option = '--ikm') => [...on('import', name), option, secret]
const secp = ['--key-type', 'secp'] as const

/** Replaces all digits of keys with letters: the rest is the text of the tool. */
const shape = (text: string): string => text.replaceAll(/[\da-f]{60,}/gi, (digits) => `(${digits.length} digits)`)
const fixture = (name: string): string => readFileSync(new URL(`../fixtures/keystore/${name}`, import.meta.url), 'utf8')

describe('the exact output of each version', () => {
  test.each([
    [V10, [], 'create-v0.10.txt'],
    [V12, secp, 'create-secp-v0.12.txt'],
    [NEWEST, ['--key-type', 'bls'], 'create-bls-v0.13.txt'],
    [V11, secp, 'create-secp-v0.12.txt'],
  ])('create of v%s %j: %s', async (version, type, name) => {
    const { stdout, ...end } = await run(version, ...on('create', 'id'), ...type)
    expect(shape(stdout)).toBe(shape(fixture(name)))
    expect(end).toEqual({ stderr: '', code: 0 })
  })

  test('recover of v0.12 and later: matches the fixtures, for both versions of a keystore', async () => {
    await writeFile(at('two'), sealKeystore({ ...sealed(2), password: 'word' }))
    await writeFile(at('one'), sealKeystore({ ...sealed(1), password: 'word' }))
    const two = await run(NEWEST, ...on('recover', 'two'), ...secp)
    expect(shape(two.stdout)).toBe(shape(fixture('recover-v2.txt')))
    expect(two.stdout).toContain(`\nKeystore secret: ${SECRET}\n`)
    const one = await run(V12, ...on('recover', 'one'), '--key-type', 'bls')
    expect(shape(one.stdout)).toBe(shape(fixture('recover-v1.txt').replaceAll('\r', '')))
    // In version 1 the secret is the key; in version 2 the key is derived.
    expect(one.stdout).toContain(`\nBLS private key: ${SECRET}\n`)
    expect(two.stdout).not.toContain(`private key: ${SECRET}`)
  })

  test('recover of v0.11 prints no secret, and of v0.10 the private key in quotes', async () => {
    await writeFile(at('id'), sealKeystore({ ...sealed(1), password: 'word' }))
    const old = await run(V11, ...on('recover', 'id'), ...secp)
    const [first, version, ...keys] = shape(old.stdout).split('\n')
    expect([first, ...keys].join('\n')).toBe(shape(fixture('recover-v0.11.txt')))
    expect(version).toBe('Keystore version: v1 (Legacy)')
    expect(findBackupProblem(old.stdout)).toBe('no line with the secret')
    expect((await run(V10, ...on('recover', 'id'), ...secp)).stdout).toMatch(
      new RegExp(
        `^Recovering private and public key from keystore file...\nKeep your private key securely: "${SECRET}"\nSecp public key: 0[23][0-9a-f]{64}\n$`,
      ),
    )
  })
})

const sealed = (version: 1 | 2) => ({ secret: Buffer.from(SECRET, 'hex'), version })

describe('failures', () => {
  test('a wrong password: on standard output with exit 0 up to v0.11, as an error since', async () => {
    await writeFile(at('id'), sealKeystore({ ...sealed(1), password: 'word' }))
    const wrong = on('recover', 'id', 'another word')
    expect(await run(V11, ...wrong)).toEqual({
      stdout: fixture('recover-failed-v0.11.txt'),
      stderr: '',
      code: 0,
    })
    expect((await run(V10, ...wrong)).stdout).toContain('\nUnable to recover private key\n')
    for (const version of [V12, NEWEST]) {
      expect(await run(version, ...wrong)).toEqual({
        stdout: fixture('recover-failed-v0.12.txt'),
        stderr: 'error: unable to recover keystore secret: ChecksumError(FailedChecksumVerification)\n',
        code: 1,
      })
    }
  })

  test('no file, no keystore, impossible parameters', async () => {
    await writeFile(at('cut'), fixture('keystore-cut.json'))
    const strange = sealKeystore({ ...sealed(2), password: 'word' }).replace('"p":1', '"p":0')
    await writeFile(at('strange'), strange)
    await mkdir(at('folder'))
    const missing = 'Os { code: 2, kind: NotFound, message: "No such file or directory" }'
    const told = async (name: string) => (await run(NEWEST, ...on('recover', name))).stderr
    const before = 'error: unable to recover keystore secret: '
    expect(await told('none')).toBe(`${before}FileIOError(${missing})\n`)
    expect(await told('cut')).toBe(`${before}InvalidJSONFormat\n`)
    expect(await told('strange')).toBe(`${before}KDFError(InvalidParams)\n`)
    expect(await told('folder')).toContain('FileIOError(Os { code: 21, kind: IsADirectory, ')
    const old = async (name: string) => (await run(V11, ...on('recover', name))).stdout
    expect(await old('none')).toContain(`\nUnable to recover keystore secret\nIO Error ${missing}\n`)
    expect(await old('cut')).toContain('\nInvalid JSON format\n')
    expect(await old('strange')).toContain('\nKDFError InvalidParams\n')
  })

  test('a keystore that cannot be written: the last line of v0.11, with exit 0; an error since', async () => {
    const old = await run(V11, ...importing(SECRET, 'none/id'))
    const last = fixture('create-failed-v0.11.txt').split('\n').at(-2)
    expect(old).toEqual({ stdout: `${last}\n`, stderr: '', code: 0 })
    expect(await run(NEWEST, ...importing(SECRET, 'none/id'))).toEqual({
      stdout: '',
      stderr:
        'error: keystore file generation failed: FileIOError(Os { code: 2, kind: NotFound, message: "No such file or directory" })\n',
      code: 1,
    })
  })

  test.each([
    [SECRET.slice(1), 'failed to parse ikm as hex: Odd number of digits'],
    [SECRET.replace('5', 'x'), "failed to parse ikm as hex: Invalid character 'x' at position 0"],
    [SECRET.slice(2), 'failed to create secp keypair: InvalidJSONFormat'],
  ])('an invalid secret: %s', async (secret, says) => {
    expect(await run(NEWEST, ...importing(secret), ...secp)).toEqual({
      stdout: '',
      stderr: `error: ${says}\n`,
      code: 1,
    })
    expect((await run(V11, ...importing(secret), ...secp)).code).toBe(101)
  })

  test.each([
    [['recover', '--password', 'word'], 'not provided:\n  --keystore-path <KEYSTORE_PATH>\n'],
    [['recover', '--password', '-word'], "unexpected argument '-w' found"],
    [['recover', '--password', '--word=x'], "unexpected argument '--word' found"],
    [['recover', '--password'], "a value is required for '--password <PASSWORD>' but none"],
    [['recover', '--password=a', '--password=b'], 'cannot be used multiple times'],
    [[...on('recover', 'id'), '--key-type', 'ed'], "invalid value 'ed' for '--key-type"],
    [importing(SECRET, 'id', '--private-key'), "unexpected argument '--private-key' found"],
    [['restore'], "unrecognized subcommand 'restore'"],
    [[], 'Usage: chain-keystore <COMMAND>'],
  ])('unknown arguments exit with 2: %j', async (argv, says) => {
    const { stdout, stderr, code } = await run(NEWEST, ...argv)
    expect([stdout, code]).toEqual(['', 2])
    expect(stderr).toContain(says)
  })
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
  test('return the same secret, for any password', async () => {
    for (const password of ['', '-dash', 'ﬁrst Ångström', 'quote \' and " and $(x)']) {
      const own = [`--password=${password}`, '--keystore-path', at('id')]
      const imported = await run(NEWEST, 'import', ...own, '--ikm', `0x${SECRET}`, ...secp)
      const { stdout, code } = await run(NEWEST, 'recover', ...own, ...secp)
      expect([imported.code, code]).toEqual([0, 0])
      expect(stdout).toContain(`\nKeystore secret: ${SECRET}\n`)
      const keys = imported.stdout.replace('Successfully generated keystore file.\n', '')
      expect(stdout.endsWith(keys)).toBe(true)
      expect(findBackupProblem(stdout)).toBeNull()
    }
    const text = await readFile(at('id'), 'utf8')
    expect(findKeystoreProblem(text)).toBeNull()
    expect(JSON.parse(text)).toMatchObject({ version: 2, hash: 'SHA256' })
  })

  test('of v0.10 use the private key and write a keystore without version', async () => {
    expect((await run(V10, ...importing(SECRET))).code).toBe(2)
    expect((await run(V10, ...importing(SECRET, 'id', '--private-key'))).code).toBe(0)
    const text = await readFile(at('id'), 'utf8')
    expect(JSON.parse(text)).not.toHaveProperty('version')
    expect(openKeystore(text, 'word')).toEqual(sealed(1))
    await run(NEWEST, ...importing(SECRET, 'new'))
    expect((await run(V10, ...on('recover', 'new'))).stdout).toContain('\nInvalid JSON format\n')
  })

  test('of a version 1 keystore derive a different key from its secret', async () => {
    await writeFile(at('one'), sealKeystore({ ...sealed(1), password: 'word' }))
    const publicKey = async (name: string) =>
      /public key: .*/.exec((await run(NEWEST, ...on('recover', name), ...secp)).stdout)?.[0]
    await run(NEWEST, ...importing(SECRET, 'two'))
    expect(await publicKey('two')).not.toBe(await publicKey('one'))
  })

  test('overwrite without a message, with the mode of a new file under the umask', async () => {
    await run(NEWEST, ...importing(SECRET, 'id'))
    await writeFile(at('another'), '')
    expect((await stat(at('id'))).mode).toBe((await stat(at('another'))).mode)
    await chmod(at('id'), 0o600)
    await run(NEWEST, ...on('create', 'id'))
    expect((await stat(at('id'))).mode & 0o777).toBe(0o600)
    expect(openKeystore(await readFile(at('id'), 'utf8'), 'word').secret).not.toEqual(sealed(2).secret)
  })
})
