import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { captureHelp, commandLineOf } from '../../src/cli/help/help.ts'
import { SECTIONS } from '../../src/health/sections/sections.ts'
import { cli } from '../support/cli.ts'
import { completeProgram, flagsOf, pathOf, withSubcommands } from '../support/words.ts'

const program = await completeProgram()
const all = withSubcommands(program)
const names = program.commands.map((command) => command.name())
/** The help of each command. */
const HELPS = new Map(all.map((command) => [commandLineOf(command), captureHelp(command)]))

describe('the program', () => {
  it('lists at most 24 commands by the question that they answer, and names the others', async () => {
    const { code, out, err } = await cli(['--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const headings = [...out.matchAll(/^([A-Z][a-z ]+):(?: .*\?)?$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(['Options', 'Diagnose', 'Look back', 'Operate', 'Set up', 'Query', 'Examples'])
    const listed = names.filter((name) => new RegExp(`\n  ${name} `).test(out))
    expect(listed.length).toBeLessThanOrEqual(24)
    expect(listed[0]).toBe('check')
    const [, others = ''] = /\nFurther commands \(.*\): ([^.]*)\./.exec(out) ?? []
    expect([...listed, ...others.split(/,\s/)]).toEqual(names)
  })

  // The table has the arguments of commands that are not loaded.
  it('lists the same when no command is loaded as when all are', async () => {
    expect((await cli(['--help'])).out).toBe(HELPS.get('chain-agent'))
  })

  // `chain-agent $COMMAND && echo ok` with COMMAND unset must not print ok.
  it('without arguments prints its help on stderr and exits with 2', async () => {
    const { code, out, err } = await cli([])
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toBe((await cli(['--help'])).out)
    expect((await cli(['maintenance'])).code).toBe(2)
  })

  it('prints its version', async () => {
    const { code, out } = await cli(['--version'])
    expect(code).toBe(0)
    expect(out).toMatch(/^\d+\.\d/)
  })
})

describe.each(all.slice(1).map((command) => [pathOf(command)]))('%s', (path) => {
  it('prints the same for help and --help, in ASCII where the locale is not UTF-8', async () => {
    const asked = await cli(['help', ...path.split(' ')])
    expect(asked).toEqual(await cli([...path.split(' '), '--help']))
    expect(asked).toMatchObject({ code: 0, err: '' })
    expect(asked.out).toContain(`Usage: chain-agent ${path}`)
    expect(asked.out).not.toMatch(/[^\n -~]/)
  })
})

it('every command, option and argument has a description', () => {
  const silent = all.flatMap((command) =>
    [command.description(), ...[...command.options, ...command.registeredArguments].map((item) => item.description)]
      .filter((description) => description === '')
      .map(() => pathOf(command)),
  )
  expect(silent).toEqual([])
})

it.each(['\nExamples:\n', '\nExit codes: '])('every command has %j, itself or in a parent command', (text) => {
  const hasText = (command: Command): boolean =>
    HELPS.get(commandLineOf(command))?.includes(text) === true ||
    (command.parent !== null && command.parent !== program && hasText(command.parent))
  const without = all.filter((command) => !hasText(command))
  expect(without.map(commandLineOf)).toEqual([])
})

it('the texts fit in 80 columns; only commands to copy are longer', () => {
  const long = [...HELPS].flatMap(([command, help]) =>
    help
      .split('\n')
      .filter((line) => line.length > 80 && !/^  (?:sudo )?(?:chain-agent|journalctl|ssh|source) /.test(line))
      .map((line) => `${command}: ${line}`),
  )
  expect(long).toEqual([])
})

it('the help of status lists every section', () => {
  const help = HELPS.get('chain-agent status') ?? ''
  expect(SECTIONS.filter(({ name }) => !help.includes(`\n  ${name} `)).map(({ name }) => name)).toEqual([])
})

describe('a misspelt word', () => {
  it.each([
    [['statsu'], 'Did you mean status?'],
    [['help', 'statsus'], 'Did you mean status?'],
    [['help', 'maintenance', 'sart'], 'Did you mean start?'],
    [['help', 'xyzzy'], 'Commands: check, '],
    [['maintenance', 'ended'], 'Did you mean end?'],
    [['alerts'], '(Alerts that fire: chain-agent check. The text of one: chain-agent runbook ALERT.)'],
    [['check', '--jsn'], 'Did you mean --json?'],
    [
      ['status', '--section', 'bft'],
      "error: unknown option '--section'\n(section is an argument, not an option: chain-agent status bft)\n",
    ],
    [['status', '--section'], '(section is an argument, not an option: chain-agent status SECTION)'],
    // Commander suggests --version for it.
    [['check', '--sektion'], "error: unknown option '--sektion'\nUsage"],
    [['parse', 'ledger-tial'], 'Did you mean ledger-tail?'],
    [['maintenance', 'start', '1h', '--reason', 'upgrad'], 'Did you mean upgrade?'],
    [['completion', 'bsh'], 'Did you mean bash?'],
    // Commands of earlier versions.
    [['height', '--json'], "error: unknown command 'height'\n(Use chain-agent query --height.)"],
    [['help', 'height'], '(Use chain-agent query --height.)'],
  ])('%j is an error with a suggestion', async (argv, expected) => {
    const { code, out, err } = await cli(argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(expected)
    expect(err).toMatch(/Usage: chain-agent( [a-z]+)* --help\n$/)
  })
})

describe('the width of the help', () => {
  const widthAt = async (columns: number): Promise<number> => {
    const { out } = await cli(['help', 'configuration'], { env: { COLUMNS: String(columns) } })
    const options = out.slice(0, out.indexOf('\nEnvironment:'))
    return Math.max(...options.split('\n').map(({ length }) => length))
  }

  it.each([
    [60, 45, 60],
    [80, 65, 80],
    // Longer lines are hard to read.
    [200, 85, 100],
  ])('of %i columns is used, up to 100', async (columns, min, max) => {
    const width = await widthAt(columns)
    expect(width).toBeGreaterThan(min)
    expect(width).toBeLessThanOrEqual(max)
  })

  it('headings are bold on a terminal with colours and without NO_COLOR only', async () => {
    const terminal = { isTTY: true, columns: 80, rows: 24 } as const
    expect((await cli(['check', '--help'], { terminal })).out).toContain('\u001b[1mOptions:\u001b[22m')
    expect((await cli(['check', '--help'], { terminal, env: { NO_COLOR: '1' } })).out).not.toContain('\u001b')
    expect((await cli(['check', '--help'], { terminal, env: { TERM: 'dumb' } })).out).not.toContain('\u001b')
  })
})

/** The modules that a module loads with it, and the packages. */
const loadedWith = async (file: string, seen = new Set<string>()): Promise<ReadonlySet<string>> => {
  seen.add(file)
  const text = await readFile(file, 'utf8')
  for (const [, target = ''] of text.matchAll(/^(?:import|export) (?!type )[^;]*? from '([^']+)'/gm)) {
    const next = target.startsWith('.') ? join(dirname(file), target) : target
    if (seen.has(next)) continue
    if (target.startsWith('.')) await loadedWith(next, seen)
    else seen.add(next)
  }
  return seen
}

describe('the help of a command loads no work', () => {
  it.each(names.filter((name) => !['help', 'completion', 'man'].includes(name)))('%s', async (name) => {
    const [file = ''] = ['src', 'query', 'simulator']
      .map((folder) => `${folder}/commands/${name}/command.ts`)
      .filter(existsSync)
    const modules = [...(await loadedWith(file))]
    const packages = modules.filter((one) => !/^(?:src|query|simulator)\/|^node:/.test(one))
    // @noble/hashes: an option takes the signature of an event. @scure/bip39: the words that errors redact. p-limit: files.
    const isLight = (one: string): boolean =>
      ['commander', 'p-limit'].includes(one) || /^@(?:noble\/hashes|scure\/bip39)\//.test(one)
    expect(packages.filter((one) => !isLight(one))).toEqual([])
    expect(
      modules.filter((one) => /^src\/(?:agent|collectors|config|exporter|health)\/|^simulator\/(?!commands)/.test(one)),
    ).toEqual([])
  })
})

it('the manual page has every command and every option', async () => {
  const page = (await cli(['man'])).out.replaceAll(String.raw`\-`, '-')
  const wanted = all.flatMap((command) => [commandLineOf(command), ...flagsOf(command)])
  expect(wanted.filter((name) => !page.includes(name))).toEqual([])
})

it('the help of a command has one option of the configuration, and `help configuration` all', async () => {
  const { code, out } = await cli(['help', 'configuration'])
  const shared = all.flatMap(({ options }) =>
    options.flatMap(({ helpGroupHeading, flags }) => (helpGroupHeading === 'Configuration:' ? [flags] : [])),
  )
  expect(code).toBe(0)
  expect(new Set(shared).size).toBeGreaterThan(5)
  expect(shared.filter((flags) => !out.includes(`\n  ${flags} `))).toEqual([])
  const own = HELPS.get('chain-agent check') ?? ''
  expect(shared.filter((flags) => own.includes(flags)).every((flags) => flags.startsWith('-c, --config '))).toBe(true)
  expect(own).toContain('\nConfiguration (all options: chain-agent help configuration):\n  -c, --config <file>')
})
