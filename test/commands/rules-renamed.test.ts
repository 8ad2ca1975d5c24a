import { readdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli } from '../support/cli.ts'
import { it } from '../support/directory.ts'

const ROUTES = `route:
  routes:
    - matchers: [alertname=~"ChainAssertion|ChainBehind"]
      receiver: pager
    - matchers:
        - alertname="ChainBlind"
        - reading="key files"
      receiver: chat
    - matchers: [alertname="ChainEpochOverdue"]
`

it('lists old names and matchers with what to write', async ({ directory }) => {
  const file = join(directory, 'alertmanager.yaml')
  await writeFile(file, ROUTES)
  expect(await cli(['rules', '--renamed', file])).toEqual({
    code: 1,
    err: '',
    out: `${file}:3: ChainAssertion is ChainLogTrouble.aborted now
    alertname="ChainLogTrouble", why="aborted"
${file}:7: reading="key files" is why="key-files" now
${file}:9: ChainEpochOverdue is a panel of the dashboards now
3 old names of version 0.2.0 in ${file}.
`,
  })
})

test('reads standard input, and prints JSON', async () => {
  const { code, out } = await cli(['rules', '--renamed', '-', '--json'], { stdin: ROUTES })
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({
    file: '-',
    uses: [
      {
        line: 3,
        old: 'ChainAssertion',
        now: 'ChainLogTrouble.aborted',
        matchers: 'alertname="ChainLogTrouble", why="aborted"',
      },
      { line: 7, old: 'reading="key files"', now: 'why="key-files"', matchers: 'why="key-files"' },
      { line: 9, old: 'ChainEpochOverdue', now: null, matchers: null },
    ],
  })
})

const SHIPPED = ['alerts', 'dashboards'].flatMap((directory) =>
  readdirSync(directory)
    .filter((name) => /\.(?:yaml|json)$/.test(name) && name !== 'tsconfig.json')
    .map((name) => `${directory}/${name}`),
)

test.each(SHIPPED)('the shipped file %s names nothing old', async (file) => {
  expect(await cli(['rules', '--renamed', file])).toEqual({
    code: 0,
    err: '',
    out: `${file} names nothing that was renamed since version 0.2.0.\n`,
  })
})

test('a file that cannot be read is a usage error', async () => {
  expect(await cli(['rules', '--renamed', '/nonexistent/file'])).toEqual({
    code: 2,
    out: '',
    err: 'error: Could not read /nonexistent/file: there is no such file or directory\n  what to do: check the path\n',
  })
})
