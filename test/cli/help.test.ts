import { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { describeCommand, readNotes, setNotes, withSubcommands } from '../../src/cli/help/command-model.ts'
import { renderHelp } from '../../src/cli/help/help-page.ts'
import { renderCliPage } from '../../src/cli/help/cli-page.ts'
import { createStyle } from '../../src/cli/terminal/style.ts'
import { cli } from '../support/cli.ts'
import { namesIn, programWords } from '../support/words.ts'

const program = await programWords()
const all = withSubcommands(program)
const LEAVES = all.filter(({ commands }) => commands.length === 0)

describe('the program', () => {
  it('lists every command under the heading of its group, the most urgent first', async () => {
    const { code, out, err } = await cli(['--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const headings = out.split('\n').filter((line) => /^[A-Z][a-z]+:(?:.*:)?$/.test(line))
    expect(headings.map((line) => line.split(':')[0])).toEqual([
      'Diagnose',
      'Inspect',
      'Query',
      'Operate',
      'Run',
      'Simulate',
      'Help',
      'Options',
      'Examples',
    ])
    for (const { name } of program.commands) expect(out).toMatch(new RegExp(`\n  ${name} `))
    expect(program.commands[0]?.name).toBe('check')
  })

  it('has no command without a group', () => {
    const lost = program.commands.filter(({ group }) => group === 'More:')
    expect(lost.map(({ name }) => name)).toEqual([])
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

describe.each(all.filter(({ path }) => path !== '').map(({ path }) => [path]))('%s', (path) => {
  it('prints the same for help and --help', async () => {
    const asked = await cli(['help', ...path.split(' ')])
    expect(asked).toEqual(await cli([...path.split(' '), '--help']))
    expect(asked).toMatchObject({ code: 0, err: '' })
    expect(asked.out).toContain(`Usage: chain-agent ${path}`)
  })
})

it('every command, option and argument has a description', () => {
  const silent = all.flatMap(({ path, description, options, arguments: taken }) => [
    ...(description === '' ? [path] : []),
    ...[...options, ...taken].filter((item) => item.description === '').map(({ term }) => `${path} ${term}`),
  ])
  expect(silent).toEqual([])
})

it('every command has examples, itself or in a parent command', () => {
  const shown = (words: (typeof all)[number]): boolean => words.notes.some(({ title }) => title === 'Examples')
  const without = LEAVES.filter(
    (words) => !shown(words) && !all.some((above) => words.path.startsWith(`${above.path} `) && shown(above)),
  )
  expect(without.map(({ path }) => path)).toEqual([])
})

it('examples are valid command lines', () => {
  const options = new Set(all.flatMap((words) => words.options.flatMap(({ names }) => names)))
  const lines = all
    .flatMap(({ notes }) => notes.filter(({ title }) => title === 'Examples'))
    .flatMap(({ lines: shown }) => shown)
  const calls = lines.flatMap((line) =>
    [...line.matchAll(/(?<!-u )chain-agent ([^|#>)]+)/g)].map(([, call = '']) => call.trim()),
  )
  expect(calls.length).toBeGreaterThan(30)
  for (const call of calls) {
    const words = call.split(' ')
    expect(
      program.commands.map(({ name }) => name),
      call,
    ).toContain(words[0])
    expect(
      words
        .filter((word) => word.startsWith('-') && word !== '-')
        .filter((word) => !options.has(word.split('=')[0] ?? '')),
      call,
    ).toEqual([])
  }
})

describe('a misspelt word', () => {
  it.each([
    [['statsu'], 'Did you mean status?'],
    [['help', 'statsus'], 'Did you mean status?'],
    [['help', 'maintenance', 'sart'], 'Did you mean start?'],
    [['help', 'xyzzy'], 'Commands: check, '],
    [['maintenance', 'ended'], 'Did you mean end?'],
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
  ])('%j is an error with a suggestion', async (argv, expected) => {
    const { code, out, err } = await cli(argv)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(expected)
    expect(err).toMatch(/Usage: chain-agent( [a-z]+)* --help\n$/)
  })
})

describe('the help page', () => {
  const style = (columns: number) =>
    createStyle({ stdout: process.stdout, env: { COLUMNS: String(columns), NO_COLOR: '1' } })

  it('keeps the column of comments if a line is too long', () => {
    const notes = `
Examples:
  one                        # is short
  number two                 # is so long that it does not fit into fifty columns
  three --without a comment`
    const words = describeCommand(new Command('x').description('shows examples'))
    const help = renderHelp({ ...words, notes: readNotes(notes) }, style(50))
    expect(help.slice(help.indexOf('Examples:')).trimEnd().split('\n')).toEqual([
      'Examples:',
      '  one         # is short',
      '  number two  # is so long that it does not fit',
      '              # into fifty columns',
      '  three --without a comment',
    ])
  })

  const command = new Command('try')
    .description('do as it says')
    .option('-l, --long-option-of-mine <value>', 'what it is for')
    .option('--at <span>', 'when', '5m')
  setNotes(
    command,
    `\nWhat is told here is one paragraph, even\nwhere it was broken in the source.\n\nWords:\n  first   one that is long enough to be broken where it is narrow, so that more follows\n\nExamples:\n  try --long-option-of-mine something --at 10m | tee a-file-with-a-name  # keep it\n`,
  )

  it('is as wide as the terminal; an example that is too long can still be copied', () => {
    const { options, ...words } = describeCommand(command)
    const own = options.filter(({ names }) => !names.includes('--help'))
    expect(renderHelp({ ...words, options: own, path: 'try' }, style(50))).toBe(
      [
        'Usage: try [options]',
        '',
        'Do as it says.',
        '',
        'Options:',
        '  -l, --long-option-of-mine <value>',
        '               what it is for',
        '  --at <span>  when (default 5m)',
        '',
        'What is told here is one paragraph, even where it',
        'was broken in the source.',
        '',
        'Words:',
        '  first   one that is long enough to be broken',
        '          where it is narrow, so that more follows',
        '',
        'Examples:',
        '  # keep it',
        '  try --long-option-of-mine something --at \\',
        '      10m | tee a-file-with-a-name',
        '',
      ].join('\n'),
    )
  })

  it('distinguishes prose, lists and examples', () => {
    expect(readNotes('\nOne\ntwo.\n\nExit codes: 0 yes,\n1 no.\n\nThese are many:\n  a\n    b\n')).toEqual([
      { title: undefined, kind: 'prose', lines: ['One two.'] },
      { title: 'Exit codes', kind: 'prose', lines: ['0 yes, 1 no.'] },
      { title: 'These are many', kind: 'lines', lines: ['a', '  b'] },
    ])
  })
})

it('docs/cli.md contains every command and every option', async () => {
  const page = await renderCliPage()
  expect(namesIn(program).filter((name) => !page.includes(name))).toEqual([])
  const anchors = [...page.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor)
  const headings = [...page.matchAll(/^##+ (.*)$/gm)].map(([, text = '']) => text.toLowerCase().replaceAll(' ', '-'))
  expect(anchors.filter((anchor) => !headings.includes(anchor ?? ''))).toEqual([])
})
