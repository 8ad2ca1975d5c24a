import { expect, test } from 'vitest'
import { cli, type World } from './cli.ts'

type Row = readonly [words: readonly string[], expected: string | RegExp]

/** Each of these command lines exits with status 2 and prints the text on standard error, and nothing else. */
export const testUsageErrors = (command: readonly string[], rows: readonly Row[], world: World = {}): void => {
  test.each(rows)('%j is a usage error', async (words, expected) => {
    const { code, out, err } = await cli([...command, ...words], world)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    if (typeof expected === 'string') expect(err).toContain(expected)
    else expect(err).toMatch(expected)
    // No stack trace.
    expect(err).not.toMatch(/\n\s+at /)
  })
}
