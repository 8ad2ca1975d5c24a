import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startDemo, type Watched } from '../support/agent.ts'
import { eventually } from '../support/eventually.ts'
import { run, start } from '../support/programs.ts'

/** The commands of the README's table under "At the terminal". */
const readCommands = async (): Promise<readonly string[]> => {
  const readme = await readFile(join(import.meta.dirname, '../../README.md'), 'utf8')
  const [, section = ''] = readme.split('\n## At the terminal\n')
  const [table = ''] = section.split('\n## ')
  return [...table.matchAll(/^\|.*$/gm)].flatMap(([row]) =>
    [...row.matchAll(/`(?:sudo )?(chain-agent [^`]+)`/g)].map(([, command = '']) => command),
  )
}

/** What each command prints first on a healthy node. A command that is not listed fails the test. */
const FIRST_LINE: Readonly<Record<string, RegExp>> = {
  'chain-agent check': /^(OK|WARNING): /,
  'chain-agent status': /^OK: /,
  'chain-agent status bft': /^OK: /,
  'chain-agent monlog': /.+/,
  'chain-agent recover': /.+/,
  'chain-agent runbook ChainBlockStalled': /ChainBlockStalled/,
  'chain-agent ledger -f': /.+/,
  'chain-agent logs execution --since 10m': /.+/,
  'chain-agent events --since 1d': /.+/,
  'chain-agent replay --since 7d': /^1 incident in /,
  'chain-agent incident': /^No incident is kept in /,
  'chain-agent alert test': /^$/,
  'chain-agent bundle': /.+/,
  'chain-agent keys verify': /.+/,
}

/**
 * Those that are not 0. The simulated journal has entries of two days ago and of now: the hole between them is a
 * warning. The agent of the demo has no Alertmanager.
 */
const EXIT_CODES: Readonly<Record<string, number>> = {
  'chain-agent replay --since 7d': 1,
  'chain-agent alert test': 2,
}

/** On a busy host the node of the demo is late, which is a warning: the exit code is then that of the first line. */
const exitCodeOf = (command: string, first: string): number =>
  command === 'chain-agent check' && first.startsWith('WARNING') ? 1 : (EXIT_CODES[command] ?? 0)

let demo: Watched
let directory = ''
/** The lines that the demo prints for a second terminal. */
let settings = ''

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'chain-agent-terminal-'))
  demo = await startDemo('healthy')
  settings =
    demo
      .output()
      .match(/^ {2}export .*$/gm)
      ?.join('\n') ?? ''
})
afterAll(async () => {
  await demo.stop()
  await rm(directory, { recursive: true })
})

const inDemo = async (command: string) => run('sh', ['-c', `${settings}\n${command}`], { cwd: directory })

const firstLineOf = (text: string): string => text.split('\n').find((line) => line !== '') ?? ''

describe('a second terminal, with the lines that the demo prints', () => {
  it('runs every command of the README', async () => {
    const commands = await readCommands()
    expect(commands).toEqual(Object.keys(FIRST_LINE))
    expect((await inDemo('chain-agent keys backup')).code).toBe(0)
    for (const command of commands.filter((one) => !one.endsWith(' -f'))) {
      // On a busy machine the RPC of the demo may have missed its deadline a moment ago, and the status says so.
      const { code, stdout } = await eventually(
        () => inDemo(command),
        (now) => new RegExp(FIRST_LINE[command] ?? 'none').test(firstLineOf(now.stdout)),
      )
      expect([command, code]).toEqual([command, exitCodeOf(command, firstLineOf(stdout))])
    }
  })

  it('follows the ledger until it is interrupted', async () => {
    const ledger = start('sh', ['-c', `${settings}\nexec chain-agent ledger -f`])
    await eventually(ledger.output, (text) => text.split('\n').length > 3)
    await ledger.stop('SIGINT')
    expect(firstLineOf(ledger.output())).toMatch(FIRST_LINE['chain-agent ledger -f'] ?? 'none')
  })
})
