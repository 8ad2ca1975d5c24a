import fc from 'fast-check'
import { expect, test } from 'vitest'
import { excerpt, ParseError, SourceError, summaryOf } from '../../src/core/errors.ts'
import { closestMatch } from '../../src/core/suggest.ts'
import { parseDuration, parseTimeSpan, parseU64, PROMQL_UNITS, renderDuration } from '../../src/core/units.ts'

test('durations with the units of the caller are in its units; other units are no duration', () => {
  expect(parseDuration('1w1h', PROMQL_UNITS)).toBe(608_400)
  expect(parseDuration('500ms', PROMQL_UNITS)).toBe(0.5)
  expect(parseDuration('1w')).toBeUndefined()
  expect(parseDuration('1min', PROMQL_UNITS)).toBeUndefined()
  expect(parseDuration('1constructor')).toBeUndefined()
})

test.each([
  ['1min 2.5s', 62.5],
  ['2 days', 172_800],
  ['1us', 1e-6],
  ['0d 00h 41m 49s', 2509],
  ['1 2s', undefined],
  ['1min 0', undefined],
  ['', undefined],
])('the time span %j of systemd is %j seconds', (text, expected) => {
  expect(parseTimeSpan(text)).toBe(expected)
})

test.each([
  ['500ms', 500],
  ['2s', 2000],
  ['1.5s', 1500],
  ['1h30m', 5_400_000],
  ['1d', 86_400_000],
])('the duration %s', (text, expected) => {
  expect(parseDuration(text)).toBe(expected)
})
test.each(['', '2', 's', '2 s', '-2s', '2sec', '1e3s', 'soon'])('%j is no duration', (text) => {
  expect(parseDuration(text)).toBeUndefined()
})
test('a duration that is written is read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 10 }), (milliseconds) => {
      expect(parseDuration(renderDuration(milliseconds))).toBe(milliseconds)
    }),
    { seed: 1 },
  )
})

test('u64: every digit, and the sentinel is unknown', () => {
  expect(parseU64('18446744073709551614')).toBe(18446744073709551614n)
  for (const text of [
    '18446744073709551615',
    '18446744073709551616',
    '99999999999999999999',
    '',
    '-1',
    '1.0',
    '0x1',
    ' 1',
  ]) {
    expect(parseU64(text)).toBeUndefined()
  }
})

test('a text is redacted before it is cut', () => {
  expect(excerpt(`${'x'.repeat(180)} ${'ab'.repeat(32)}`)).not.toContain('abab')
})

test('errors contain the action, the failure, the output and the advice', () => {
  const error = new SourceError({
    doing: 'read the journal',
    happened: 'exit code 1',
    evidence: 'No journal files\nwere opened\u001B[31m',
    advice: 'join the group systemd-journal',
  })
  expect(error.message).toMatchInlineSnapshot(`
    "Could not read the journal: exit code 1
      output: No journal files ⏎ were opened
      what to do: join the group systemd-journal"
  `)
  expect(summaryOf(error)).toBe('could not read the journal: exit code 1')
})
test('errors show only the beginning of a text', () => {
  const error = new ParseError('a report', 'a number', 'x'.repeat(10_000))
  expect(error.message.length).toBeLessThan(300)
  expect(excerpt('  short \n')).toBe('short')
})

test.each([
  ['intervl', 'interval'],
  ['ENABLED', 'enabled'],
  ['zzzzzz', undefined],
  ['int', 'interval'],
  ['ti', undefined],
  ['tiemotu', 'timeout'],
  ['rcp', 'rpc'],
  ['prc', 'rpc'],
])('nearest to %s is %s', (word, expected) => {
  expect(closestMatch(word, ['interval', 'enabled', 'timeout', 'rpc'])).toBe(expected)
})
