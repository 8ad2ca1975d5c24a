import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import { Secret } from '../../../src/core/redaction/secret.ts'

const secret = new Secret('correct horse')

it.each([
  ['a template', `${secret.toString()}`],
  ['JSON', JSON.stringify({ secret })],
  ['inspection', inspect({ deep: { secret } }, { showHidden: true, depth: 9 })],
  ['its own keys', JSON.stringify(Object.entries(secret))],
  ['an error', String(new Error('x', { cause: secret }).cause)],
])('a secret does not come out of %s', (_, shown) => {
  expect(shown).not.toContain('horse')
})

it('a secret differs from others; hex digits of either case are equal', () => {
  expect(new Secret('AB12').isSameAs(new Secret('ab12'))).toBe(true)
  expect(new Secret('ab12').isSameAs(new Secret('ab13'))).toBe(false)
  expect(new Secret('ab').isSameAs(new Secret('abab'))).toBe(false)
})

it('a secret is redacted everywhere in a text; an empty one nowhere', () => {
  expect(secret.redactFrom('a correct horse, correct horse')).toBe('a (redacted), (redacted)')
  expect(new Secret('').redactFrom('text')).toBe('text')
})
