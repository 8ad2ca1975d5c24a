import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import { parseEpochStarts, parseValidatorSets } from '../../src/parsers/validators.ts'

const read = (name: string): string =>
  readFileSync(new URL(`../fixtures/validators/${name}.toml`, import.meta.url), 'utf8')

const A = '0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798'
const B = '03f28773c2d975288bc7d1d205c3748651b075fbc6610e58cddeeddf8f19405aa8'

test('the sets of two epochs: keys with and without 0x, stakes in hex digits and as integers beyond 2^64', () => {
  expect(parseValidatorSets(read('two-epochs'))).toEqual([
    {
      epoch: 1023n,
      members: [
        { secpKey: A, stake: 11_100_000n * 10n ** 18n },
        { secpKey: B, stake: 3n },
      ],
    },
    { epoch: 1024n, members: [{ secpKey: A, stake: 11_100_000n * 10n ** 18n }] },
  ])
})

test('the first rounds of the epochs in a forkpoint', () => {
  expect(parseEpochStarts(read('forkpoint'))).toEqual(
    new Map([
      [1023n, 51_200_231n],
      [1024n, 51_255_017n],
    ]),
  )
  expect(parseEpochStarts('[[validator_sets]]\nepoch = 3\n')).toEqual(new Map())
})

test.each([
  ['not TOML', 'validator_sets = ['],
  ['no sets', 'validators = []'],
  ['a key of another length', '[[validator_sets]]\nepoch = 1\nvalidators = [{ node_id = "0x02ab", stake = 1 }]'],
  ['a negative stake', `[[validator_sets]]\nepoch = 1\nvalidators = [{ node_id = "0x${A}", stake = -1 }]`],
  ['a stake with a fraction', `[[validator_sets]]\nepoch = 1\nvalidators = [{ node_id = "0x${A}", stake = 1.5 }]`],
  ['an epoch as text', '[[validator_sets]]\nepoch = "1"\nvalidators = []'],
  ['values nested too deeply', `a = ${'['.repeat(40)}${']'.repeat(40)}\nvalidator_sets = []`],
  ['a megabyte', `validator_sets = []\n# ${'x'.repeat(1024 * 1024)}`],
])('%s is a parse error', (_name, text) => {
  expect(() => parseValidatorSets(text)).toThrow(ParseError)
})
