import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { compareRatios, mainRatios, readHistory, renderHistory } from '../../bench/history.ts'

const TOKENS = ['tokens: CPU ÷ JSON.parse', 'tokens: CPU ÷ official client', 'tokens: RSS ÷ JSON.parse'] as const
const release = (version: string, ...ratios: readonly (readonly [string, number])[]) => ({
  version,
  commit: '1b0e365e',
  date: '2026-11-23',
  machine: '2 × AMD EPYC, Node.js 20.20.2',
  ratios: new Map(ratios),
})

test('the table is read as it was written; a ratio that a release does not have is no number', () => {
  const releases = [
    release('0.1.0', [TOKENS[0], 0.805], ['dropped: CPU ÷ peer', 31.7]),
    release('0.2.0', [TOKENS[0], 0.4]),
  ]
  const text = `# Benchmarks\n\nIntroduction.\n\n${renderHistory(releases)}\n\n## Start (\`startup\`)\n\n| figure | program |\n`
  expect(readHistory(text)).toEqual(releases)
  const rows = text.split('\n').filter((line) => line.startsWith('| 0.'))
  expect(rows.map((row) => [row.slice(0, 69), row.slice(-9)])).toEqual([
    ['| 0.1.0 | 1b0e365e | 2026-11-23 | 2 × AMD EPYC, Node.js 20.20.2 | – |', ' | 31.7 |'],
    ['| 0.2.0 | 1b0e365e | 2026-11-23 | 2 × AMD EPYC, Node.js 20.20.2 | – |', '| – | – |'],
  ])
})

test('a report without history has no release; a cell that is no ratio is an error that names it', () => {
  expect(readHistory('# Benchmarks\n\n## Start of a command (`startup`)\n\n| figure | program |\n')).toEqual([])
  const text = renderHistory([release('0.1.0', [TOKENS[0], 0.805])])
  expect(() => readHistory(text.replace('| 0.805 |', '| 0,805 |'))).toThrow(
    'History, 0.1.0, tokens: CPU ÷ JSON.parse: "0,805" is not a ratio; expected a number or –',
  )
})

test('the main ratios are those of the figure and the peer of one comparison, whatever its version', () => {
  const ratios = [
    { figure: 'CPU, s', program: 'fetch, JSON.parse, BigInt', value: 0.8 },
    { figure: 'CPU, s', program: '@envio-dev/hypersync-client 9.9.9', value: 0.5 },
    { figure: 'elapsed, s', program: 'fetch, JSON.parse, BigInt', value: 0.7 },
  ]
  expect([...mainRatios([{ name: 'other', ratios }])]).toEqual([])
  expect([...mainRatios([{ name: 'tokens', ratios }])]).toEqual([
    ['tokens: CPU ÷ JSON.parse', 0.8],
    ['tokens: CPU ÷ official client', 0.5],
  ])
})

test('a ratio may be 15 % higher than the recorded one; what is worse is named with both', () => {
  const recorded = release('0.1.0', [TOKENS[0], 2], [TOKENS[1], 0.5], [TOKENS[2], 1])
  const at = (one: number, two: number) =>
    compareRatios(
      recorded,
      new Map([
        [TOKENS[0], one],
        [TOKENS[1], two],
        [TOKENS[2], 0.1],
      ]),
      ['tokens'],
    )
  expect(at(2.3, 0.1)).toEqual({ worse: [], missing: [] })
  expect(at(2.31, 0.576)).toEqual({
    worse: [
      'tokens: CPU ÷ JSON.parse: 2.31 measured, 2 recorded for 0.1.0',
      'tokens: CPU ÷ official client: 0.576 measured, 0.5 recorded for 0.1.0',
    ],
    missing: [],
  })
})

test('a ratio that is missing on one side is reported, and is not worse; other comparisons are not mentioned', () => {
  const recorded = release('0.1.0', [TOKENS[0], 2], ['tokens: CPU ÷ dropped', 0.5], ['agent: CPU ÷ node_exporter', 9])
  expect(compareRatios(recorded, new Map([[TOKENS[1], 9]]), ['tokens'])).toEqual({
    worse: [],
    missing: [
      'tokens: CPU ÷ JSON.parse: not compared, because it is not measured',
      'tokens: CPU ÷ official client: not compared, because it is not recorded',
      'tokens: RSS ÷ JSON.parse: not compared, because it is not measured and not recorded',
      'tokens: CPU ÷ dropped: not compared, because it is not measured',
    ],
  })
})

test('the report in the documentation has a history', async () => {
  const [first] = readHistory(await readFile('bench/README.md', 'utf8'))
  expect(first?.ratios.get('tokens: CPU ÷ JSON.parse')).toBe(0.805)
})
