import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readKeyMaterial, readPassword } from '../../src/parsers/keystore.ts'

const fixture = (name: string): Promise<string> =>
  readFile(join(import.meta.dirname, '../fixtures/keystore', name), 'utf8')

const SECRET = 'a1'.repeat(32)
const OTHER = 'b2'.repeat(32)

describe('the secret in what the keystore tool prints', () => {
  it('is the last word of the labelled line of recover, and the public key next to it', async () => {
    expect(readKeyMaterial(await fixture('recover-v2.txt'))).toStrictEqual({
      material: {
        secret: '2af8a9104b3f64ed640d8c7e298d2d480f03a3610cbc2b33474321ec59024a48',
        publicKey: '02ba8d2203f7a49a596360216029621c9bfae88f03206dc3418f8af38ae538d93b',
        isLegacy: false,
      },
      problem: null,
    })
  })

  it.each(['create-secp-v0.12.txt', 'create-bls-v0.13.txt', 'recover-v1.txt'])('is in %s', async (name) => {
    expect(readKeyMaterial(await fixture(name)).material?.secret).toMatch(/^[0-9a-f]{64}$/)
  })

  it.each([
    ['nothing', '', 'it is empty'],
    ['what a failed recover leaves', 'Recovering secret from keystore file...\n', 'it has no line with the secret'],
    ['a label without a secret', 'Keystore secret:\n', 'the secret is not 64 hex digits'],
    ['a digit too few', `Keystore secret: ${SECRET.slice(1)}\n`, 'the secret is not 64 hex digits'],
    ['a secret in quotes', `Keystore secret: "${SECRET}"\n`, 'the secret is not 64 hex digits'],
    ['a label within a line', `see Keystore secret: ${SECRET}\n`, 'it has no line with the secret'],
    [
      'two that differ',
      `Keystore secret: ${SECRET}\nKeep your IKM secure: ${OTHER}\n`,
      'it contains several different secrets',
    ],
  ])('is not in %s', (_, text, problem) => {
    expect(readKeyMaterial(text)).toStrictEqual({ material: null, problem })
  })

  it('is marked as of a version 1 keystore, whose key import does not create', async () => {
    expect(readKeyMaterial(await fixture('recover-v1.txt')).material?.isLegacy).toBe(true)
  })

  it('is not the key of an old version, from which the secret cannot be derived', async () => {
    expect(readKeyMaterial(await fixture('recover-v0.11.txt')).problem).toMatch(/^it is from v0.11:/)
    expect(readKeyMaterial(await fixture('create-v0.10.txt')).problem).toMatch(/^it is from v0.10/)
  })

  it('may occur twice, in capitals, and with other line ends', () => {
    const text = `Keystore secret: ${SECRET.toUpperCase()}\r\nKeep your IKM secure:\t${SECRET}\r\n`
    expect(readKeyMaterial(text).material).toStrictEqual({
      secret: SECRET,
      publicKey: null,
      isLegacy: false,
    })
  })
})

describe('the password in the environment file', () => {
  it.each([
    ['KEYSTORE_PASSWORD=plain\n', 'plain'],
    ["KEYSTORE_PASSWORD=' with space '\n", ' with space '],
    ['export  KEYSTORE_PASSWORD="with = sign"\n', 'with = sign'],
    ['KEYSTORE_PASSWORD=first\nOTHER=x\nKEYSTORE_PASSWORD=last\n', 'last'],
  ])('of %j is %j', (text, value) => {
    expect(readPassword(text)).toStrictEqual({ value, problem: null })
  })

  it.each(['#KEYSTORE_PASSWORD=no\n', 'KEYSTORE_PASSWORD=\n', 'OLD_KEYSTORE_PASSWORD=no\n', ''])(
    'is none in %j',
    (text) => {
      expect(readPassword(text)).toStrictEqual({
        value: null,
        problem: 'it has no KEYSTORE_PASSWORD',
      })
    },
  )
})
