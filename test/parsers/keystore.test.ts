import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  checkKeyFile,
  findBackupProblem,
  findEnvironmentProblem,
  findKeystoreProblem,
  findPasswordProblem,
} from '../../src/parsers/keystore.ts'

const FIXTURES = new URL('../fixtures/keystore/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8')
const expected = z.record(z.string(), z.unknown()).parse(JSON.parse(read('expected.json')))
const names = Object.keys(expected)

test.each(names)('%s', (name) => {
  expect(checkKeyFile(read(name))).toEqual(expected[name])
})

test('every fixture is in the table', () => {
  const files = readdirSync(FIXTURES).filter((name) => name !== 'expected.json')
  expect(files.toSorted()).toEqual(names.toSorted())
})

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
    [`Secp private key: ${HEX}`, 'no line with the secret'],
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
