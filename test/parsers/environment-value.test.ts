import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { readEnvironmentValue } from '../../src/parsers/keystore.ts'

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
  it.each(AGREED)('%j is %j', (text, value) => {
    expect(readEnvironmentValue(text)).toStrictEqual({ value, problem: null })
  })

  it.each(AGREED)('%j is the same for a real shell', (text, value) => {
    const script = `V=${text}\nprintf %s "$V"`
    expect(execFileSync('sh', ['-c', script], { encoding: 'utf8' })).toBe(value)
  })

  it.each(DISPUTED)('%j is not guessed at', (text, why) => {
    const { value, problem } = readEnvironmentValue(text)
    expect(value).toBeNull()
    expect(problem).toContain(why)
  })

  it('has no carriage return of a file with CRLF line ends', () => {
    expect(readEnvironmentValue('plain\r').value).toBe('plain')
  })
})
