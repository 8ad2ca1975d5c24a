import { expect, test } from 'vitest'
import { errorOf, reasonIn, stableReason } from '../../src/core/error-body.ts'

test.each([
  ['plain text', ' too many requests \n', 'too many requests'],
  ['a field', '{"message":"slow down"}', 'slow down'],
  ['an error and a message', '{"error":"Too Many","message":"slow down","status":429}', 'Too Many: slow down'],
  ['the same text twice', '{"error":"no","message":"no"}', 'no'],
  ['JSON-RPC', '{"id":1,"error":{"code":-32005,"message":"limit"}}', 'limit'],
  ['a list of errors', '{"errors":[{"message":"first"},{"message":"second"}]}', 'first'],
  ['RFC 9457', '{"type":"about:blank","title":"Forbidden","detail":"not in this plan"}', 'Forbidden: not in this plan'],
  ['HTML', '<html><style>p { color: red }</style><title>Denied</title><p>a &amp; b</p></html>', 'Denied a & b'],
  ['a style that never ends', '<html><p>text</p><style>p { color: red }', 'text'],
  ['XML', '<Error><Code>AccessDenied</Code><Message>no</Message></Error>', 'AccessDenied no'],
  ['no reason: the body', '{"code":7}', '{"code":7}'],
  ['not JSON: the body', '{"message":', '{"message":'],
  ['nothing', '', ''],
])('%s', (_, body, expected) => {
  expect(reasonIn(body)).toBe(expected)
})

test.each([
  [{ error: null, data: [] }, undefined],
  [{ errors: [], data: [] }, undefined],
  [{ message: 'ok', data: [] }, undefined],
  [{ message: 'not ok' }, 'not ok'],
  [{ error: 'no', data: [] }, 'no'],
  [{ error: true, message: 'no', data: [] }, 'no'],
  [[], undefined],
])('%j has the error %s', (value, expected) => {
  expect(errorOf(value, ['data'])).toBe(expected)
})

test('a body that nests without end, and one of many megabytes', () => {
  expect(reasonIn(`${'{"error":'.repeat(50)}"deep"${'}'.repeat(50)}`)).toContain('{"error":')
  expect(reasonIn(`<p>${'<'.repeat(5_000_000)}`).length).toBeLessThan(20_000)
})

test('for a state: short, without figures, ids and keys', () => {
  expect(stableReason('{"error":"10000 of 10000 requests used, resets in 35 s (id 7f3a)"}')).toBe(
    '… of … requests used, resets in … s (id …',
  )
  expect(stableReason('password=hunter')).toBe('password=(redacted)')
  expect(stableReason('word '.repeat(500)).length).toBeLessThanOrEqual(121)
})
