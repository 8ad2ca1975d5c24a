import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  checkKeyFile,
  findBackupProblem,
  findEnvironmentProblem,
  findKeystoreProblem,
  findPasswordProblem,
  readEnvironmentValue,
  readKeyMaterial,
  readPassword,
} from '../../src/parsers/keystore.ts'

const FIXTURES = new URL('../fixtures/keystore/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8')
const names = readdirSync(FIXTURES).filter((name) => name !== 'expected.json')

const HEX = '9f'.repeat(32)

describe('a backup', () => {
  test.each([
    [`Keystore secret: ${HEX}`, null],
    [`  Keystore secret: ${HEX}  `, null],
    [`noted by hand\nKeep your IKM secure: ${HEX}\n`, null],
    [`Keep your private key securely: "${HEX}"`, 'from v0.10 or earlier: the private key, not the secret'],
    [`Keystore secret: ${HEX}9`, 'the secret is not 64 hex digits'],
    [`Keystore secret: 0x${HEX}`, 'the secret is not 64 hex digits'],
    [`Keystore secret: ${HEX} and more`, 'the secret is not 64 hex digits'],
    [`Keystore secret: "${HEX}`, 'the secret is not 64 hex digits'],
    [`Keystore secret: ${HEX.replace('9', 'g')}`, 'the secret is not 64 hex digits'],
    ['Keystore secret:', 'the secret is not 64 hex digits'],
    [`Secp private key: ${HEX}`, 'from v0.11: the private key, not the secret'],
    [`Keystore secret: ${HEX}\nKeystore secret: ${'8e'.repeat(32)}`, 'it contains several different secrets'],
    [HEX, 'no line with the secret'],
    ['', 'empty'],
    [' \n\0\n', 'empty'],
  ])('%j: %s', (text, problem) => {
    expect(findBackupProblem(text)).toBe(problem)
  })
})

test.each([
  ['', 'empty'],
  ['{', 'not JSON'],
  ['[]', 'ciphertext is missing'],
  ['null', 'ciphertext is missing'],
  ['{"ciphertext":null}', 'ciphertext is missing'],
  ['{"ciphertext":[1],"checksum":[2]}', 'hash is missing'],
  ['{"ciphertext":"a","checksum":"b","hash":"c","cipher":"d"}', 'cipher.cipher_function is missing'],
  ['Recovering secret from keystore file...', 'not JSON'],
])('a keystore %j: %s', (text, problem) => {
  expect(findKeystoreProblem(text)).toBe(problem)
})

test.each([
  ['KEYSTORE_PASSWORD=a', null],
  ['A=b\n# comment\nexport KEYSTORE_PASSWORD="a b"\n', null],
  ["KEYSTORE_PASSWORD='a=b=='\r\n", null],
  ['KEYSTORE_PASSWORD=\nKEYSTORE_PASSWORD=later\n', null],
  ['KEYSTORE_PASSWORD=early\nKEYSTORE_PASSWORD=\n', 'no password in it'],
  ['KEYSTORE_PASSWORD=', 'no password in it'],
  ["KEYSTORE_PASSWORD=''", 'no password in it'],
  ["KEYSTORE_PASSWORD='", 'no password in it'],
  ['#KEYSTORE_PASSWORD=a', 'no password in it'],
  ['MY_KEYSTORE_PASSWORD=a', 'no password in it'],
  ['just words', 'no password in it'],
  ['', 'empty'],
])('an environment file %j: %s', (text, problem) => {
  expect(findEnvironmentProblem(text)).toBe(problem)
})

test.each([
  ['Keystore password: a', null],
  ['KEYSTORE_PASSWORD=a', null],
  ['a-bare-word=\n', null],
  ['Keystore password: \n', 'no password in it'],
  ["KEYSTORE_PASSWORD=''\n", 'no password in it'],
  ['\n', 'empty'],
])('the backup of the password %j: %s', (text, problem) => {
  expect(findPasswordProblem(text)).toBe(problem)
})

/** All that a verdict may be made of. */
const WORDS = [
  'empty',
  'not JSON',
  'no line with the secret',
  'the secret is not 64 hex digits',
  'the output of a failed recover: no secret',
  'no password in it',
  'from v0.10 or earlier: the private key, not the secret',
  'from v0.11: the private key, not the secret',
  'it contains several different secrets',
  ...['ciphertext', 'checksum', 'hash', 'cipher.cipher_function', 'cipher.params.iv'].map(missing),
  ...['kdf.kdf_name', 'kdf.params.salt'].map(missing),
]
function missing(path: string): string {
  return `${path} is missing`
}

test('for any text: no check throws, and no result contains the text', () => {
  const pieces = fc.oneof(
    fc.string(),
    fc.json(),
    fc.constantFrom(...names).map(read),
    fc.constantFrom('Keystore secret: ', 'KEYSTORE_PASSWORD=', '{"ciphertext":"', `${HEX}\n`),
  )
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const text = parts.join('')
      const said = [
        checkKeyFile(text).problem,
        findKeystoreProblem(text),
        findBackupProblem(text),
        findEnvironmentProblem(text),
        findPasswordProblem(text),
      ]
      expect(said.filter((one) => one !== null && !WORDS.includes(one))).toEqual([])
    }),
  )
})

test('no checked text remains in RegExp.input, which holds the last text that a pattern matched', () => {
  const trace = (): unknown => Reflect.get(RegExp, 'input')
  expect(/before/.test('what was before')).toBe(true)
  for (const name of names) checkKeyFile(read(name))
  findEnvironmentProblem(`KEYSTORE_PASSWORD=${HEX}`)
  findPasswordProblem(`Keystore password: ${HEX}`)
  expect(trace()).toBe('what was before')
})

const SECRET = 'a1'.repeat(32)
const OTHER = 'b2'.repeat(32)

describe('the secret in what the keystore tool prints', () => {
  test('is the last word of the labelled line of recover, and the public key next to it', () => {
    expect(readKeyMaterial(read('recover-v2.txt'))).toStrictEqual({
      material: {
        secret: '2af8a9104b3f64ed640d8c7e298d2d480f03a3610cbc2b33474321ec59024a48',
        publicKey: '02ba8d2203f7a49a596360216029621c9bfae88f03206dc3418f8af38ae538d93b',
        isLegacy: false,
      },
      problem: null,
    })
  })

  test.each(['create-secp-v0.12.txt', 'create-bls-v0.13.txt', 'recover-v1.txt'])('is in %s', (name) => {
    expect(readKeyMaterial(read(name)).material?.secret).toMatch(/^[0-9a-f]{64}$/)
  })

  test.each([
    ['nothing', '', 'empty'],
    [
      'what a failed recover leaves',
      'Recovering secret from keystore file...\n',
      'the output of a failed recover: no secret',
    ],
    ['a label without a secret', 'Keystore secret:\n', 'the secret is not 64 hex digits'],
    ['a digit too few', `Keystore secret: ${SECRET.slice(1)}\n`, 'the secret is not 64 hex digits'],
    ['a secret in quotes', `Keystore secret: "${SECRET}"\n`, 'the secret is not 64 hex digits'],
    ['a label within a line', `see Keystore secret: ${SECRET}\n`, 'no line with the secret'],
    [
      'two that differ',
      `Keystore secret: ${SECRET}\nKeep your IKM secure: ${OTHER}\n`,
      'it contains several different secrets',
    ],
  ])('is not in %s', (_, text, problem) => {
    expect(readKeyMaterial(text)).toStrictEqual({ material: null, problem })
  })

  test('is marked as of a version 1 keystore, whose key import does not create', () => {
    expect(readKeyMaterial(read('recover-v1.txt')).material?.isLegacy).toBe(true)
  })

  test('is not the key of an old version, from which the secret cannot be derived', () => {
    expect(readKeyMaterial(read('recover-v0.11.txt')).problem).toMatch(/^from v0.11:/)
    expect(readKeyMaterial(read('create-v0.10.txt')).problem).toMatch(/^from v0.10/)
  })

  test('may occur twice, in capitals, and with other line ends', () => {
    const text = `Keystore secret: ${SECRET.toUpperCase()}\r\nKeep your IKM secure:\t${SECRET}\r\n`
    expect(readKeyMaterial(text).material).toStrictEqual({
      secret: SECRET,
      publicKey: null,
      isLegacy: false,
    })
  })
})

describe('the password in the environment file', () => {
  test.each([
    ['KEYSTORE_PASSWORD=plain\n', 'plain'],
    ["KEYSTORE_PASSWORD=' with space '\n", ' with space '],
    ['export  KEYSTORE_PASSWORD="with = sign"\n', 'with = sign'],
    ['KEYSTORE_PASSWORD=first\nOTHER=x\nKEYSTORE_PASSWORD=last\n', 'last'],
  ])('of %j is %j', (text, value) => {
    expect(readPassword(text)).toStrictEqual({ value, problem: null })
  })

  test.each(['#KEYSTORE_PASSWORD=no\n', 'KEYSTORE_PASSWORD=\n', 'OLD_KEYSTORE_PASSWORD=no\n', ''])(
    'is none in %j',
    (text) => {
      expect(readPassword(text)).toStrictEqual({
        value: null,
        problem: 'it has no KEYSTORE_PASSWORD',
      })
    },
  )
})

/** Text behind the sign, and what it means to a shell and to systemd alike. */
const AGREED = [
  ['plain', 'plain'],
  ["' blanks '", ' blanks '],
  ['" blanks "', ' blanks '],
  ['a#b', 'a#b'],
  ['#b', '#b'],
  ["'it'\\''s'", "it's"],
  ['"a\\"b"', 'a"b'],
  ['"a\\$b\\\\c"', 'a$b\\c'],
  ['"a\\xb"', 'a\\xb'],
  ["'$`\\'", '$`\\'],
  ['a\\ b', 'a b'],
  ['a\'b\'"c"', 'abc'],
  ['trailing   ', 'trailing'],
  ['a=b=c', 'a=b=c'],
  ['', ''],
] as const

const DISPUTED = [
  ['two words', 'a space or tab outside quotes'],
  ['"abc" # comment', 'a space or tab outside quotes'],
  [' leading', 'it begins with a space or tab'],
  ['a$b', 'a $ outside quotes'],
  ['"a$b"', 'a $ in double quotes'],
  ['"a`b"', 'a ` in double quotes'],
  ['a;b', 'a ; outside quotes'],
  ["'open", 'is not closed'],
  ['"open', 'is not closed'],
  ['"open\\"', 'is not closed'],
  ['next\\', 'continues on the next line'],
] as const

describe('the value of a variable', () => {
  test.each(AGREED)('%j is %j', (text, value) => {
    expect(readEnvironmentValue(text)).toStrictEqual({ value, problem: null })
  })

  test.each(AGREED)('%j is the same for a real shell', (text, value) => {
    const script = `V=${text}\nprintf %s "$V"`
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(value)
  })

  test.each(DISPUTED)('%j is not guessed at', (text, why) => {
    const { value, problem } = readEnvironmentValue(text)
    expect(value).toBeNull()
    expect(problem).toContain(why)
  })

  test('has no carriage return of a file with CRLF line ends', () => {
    expect(readEnvironmentValue('plain\r').value).toBe('plain')
  })
})
