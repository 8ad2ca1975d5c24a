import { expect, test } from 'vitest'
import { eventLines } from '../../src/commands/events/render.ts'
import { createStyle } from '../../src/terminal/style.ts'
import { factLines, findingLines } from '../../src/terminal/diagnosis.ts'

const HOSTILE = '\u001B]0;x\u0007a\u009B31m\u202Eb\u200B\u2028c\u0085'

test('no page contains control characters of the terminal', () => {
  const style = createStyle({ stdout: process.stdout, env: { LANG: 'C.UTF-8', NO_COLOR: '1' } })
  const said = { summary: HOSTILE, evidence: [HOSTILE], advice: [HOSTILE] }
  const lines = [
    ...findingLines([{ name: 'x', severity: 'warning', ...said }], style),
    ...factLines([{ label: 'x', value: HOSTILE }], style),
    ...eventLines(
      [
        {
          id: 1,
          at: 0,
          severity: 'critical',
          collector: 'x',
          subject: HOSTILE,
          from: HOSTILE,
          to: `${HOSTILE}\n2`,
        },
      ],
      style,
    ),
  ]
  expect(lines.length).toBeGreaterThan(5)
  expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028]/u)
  expect(lines.at(-1)).toContain('ab\uFFFDc\uFFFD 2')
})
