import { describe, expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { parseConfigFile } from '../../src/config/file.ts'
import { parseNames, readNames } from '../../src/config/key-names.ts'

const A = `02${'ab'.repeat(32)}`
const B = `03${'0c'.repeat(32)}`
const read = (text: string) => parseNames(parseConfigFile('names.yaml', text))

describe('a file of names', () => {
  test('maps keys to names, in any notation of the key', () => {
    expect([...read(`'${A}': One\n'0x${B.toUpperCase().replace('0X', '')}': ' Two Words '\n`)]).toEqual([
      [A, 'One'],
      [B, 'Two Words'],
    ])
    expect(read('').size).toBe(0)
  })

  test.each([
    ['a key that is too short', `'${A}': One\n'02ab': Two`, /^names\.yaml:2: 02ab: expected a secp public key/],
    [
      'a key that YAML takes for a number',
      `0x${'02'.padEnd(66, '1')}: One`,
      /^names\.yaml:1: 2\.39\S+: expected a secp/,
    ],
    [
      'a key of another kind',
      `'04${'ab'.repeat(32)}': One`,
      /^names\.yaml:1: 04\w{18}\.\.\.: expected a secp public key/,
    ],
    ['no name', `# none\n'${A}':\n`, /^names\.yaml:2: 02\w{18}\.\.\.: expected a name of 1 to 64 letters/],
    ['a name that is a list', `'${A}': [One]`, /^names\.yaml:1: 02\w{18}\.\.\.: expected a name/],
    ['a name that a terminal would obey', `'${A}': "\\e[2J"`, /^names\.yaml:1: 02\w{18}\.\.\.: expected a name/],
    [
      'two names for a key',
      `'${A}': One\n'0x${A}': Two`,
      /^names\.yaml:2: 0x02\w{16}\.\.\.: the key already has a name/,
    ],
    ['a list', `- ${A}`, /^names\.yaml:1: expected keys and names/],
  ])('%s is refused with its line', (_, text, message) => {
    expect(() => read(text)).toThrow(message)
  })

  test('all errors are reported together', () => {
    expect(() => read(`'02': One\n'${A}': ''\n`)).toThrow(/names\.yaml:1: .*\nnames\.yaml:2: /)
  })

  test('the example that is shipped is one', () => {
    const example = fileURLToPath(new URL('../../networks/names.example.yaml', import.meta.url))
    expect([...readNames(example).values()]).toEqual(['Example Validator One', 'Example Validator Two'])
    expect(() => readNames('/nowhere/names.yaml')).toThrow('there is no such file')
  })
})
