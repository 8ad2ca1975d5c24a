import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createCleanup, type Lineup, ROOT, Unavailable } from '../../bench/comparison.ts'
import { readOptions } from '../../bench/main.ts'
import { checkTakes, runComparison, table } from '../../bench/report.ts'

const take = (cpu: number, result?: string) => ({
  figures: { 'CPU, s': cpu },
  ...(result === undefined ? {} : { result }),
})

const report = async (lineup: Promise<Lineup>) => {
  const [log, cleanup]: [string[], ReturnType<typeof createCleanup>] = [[], createCleanup()]
  const setup = { logs: 10, folder: '/nowhere', release: undefined, check: false, defer: cleanup.defer }
  const comparison = { name: 'x', title: 'Title', fairness: 'Fair.', open: async () => lineup }
  const section = await runComparison(comparison, setup, { rounds: 2, log: (text) => log.push(text) })
  return { ...section, log }
}

test('ratios are of the same round, chain-agent ÷ peer', () => {
  // 1 ÷ 4, 4 ÷ 8 and 3 ÷ 2: the ratio of the medians would be 3 ÷ 4.
  const rounds = [
    [take(1), take(4)],
    [take(4), take(8)],
    [take(3), take(2)],
  ]
  expect(table(['chain-agent', 'peer 1.0'], rounds).split('\n').slice(2)).toEqual([
    '| CPU, s | chain-agent | 3 (1 to 4) |  |',
    '| CPU, s | peer 1.0 | 4 (2 to 8) | 0.5 (0.25 to 1.5) |',
  ])
})

test('a peer that comes first is what the others are divided by; a figure that only some have has no ratio', () => {
  const rounds = [[take(2), { figures: { 'CPU, s': 3, series: 1234 } }]]
  expect(table(['node -e 0', 'chain-agent --version'], rounds).split('\n')).toEqual([
    '| figure | program | median (min to max) | ÷ node -e 0 |',
    '| --- | --- | --- | --- |',
    '| CPU, s | node -e 0 | 2 |  |',
    '| CPU, s | chain-agent --version | 3 | 1.5 |',
    '| series | chain-agent --version | 1,234 |  |',
  ])
})

test('a second program of the project has no ratio; the last release, whose name has a version, is a peer', () => {
  const names = ['chain-agent', 'chain-agent, all collectors', 'chain-agent 0.2.0 (1fdbfc71)']
  expect(
    table(names, [[take(3), take(2), take(4)]])
      .split('\n')
      .slice(3),
  ).toEqual(['| CPU, s | chain-agent, all collectors | 2 |  |', '| CPU, s | chain-agent 0.2.0 (1fdbfc71) | 4 | 0.75 |'])
})

test('a comparison that needs more rounds than the options takes them', async () => {
  const { log, measured } = await report(
    Promise.resolve({
      programs: ['chain-agent'],
      round: async () => Promise.resolve([take(1)]),
      hasEnough: (rounds) => rounds.length >= 3,
    }),
  )
  expect(measured?.rounds).toHaveLength(3)
  expect(log.filter((line) => line.startsWith('x: round'))).toEqual(['x: round 1', 'x: round 2', 'x: round 3'])
})

test('a peer with another result, or another result in a later round, is a failure that names both', () => {
  const programs = ['chain-agent', 'viem 2.40.0']
  expect(() =>
    checkTakes(programs, [
      [take(1, 'a'), take(1, 'a')],
      [take(2, 'a'), take(1)],
    ]),
  ).not.toThrow()
  expect(() => checkTakes(programs, [[take(1, 'a'), take(1, 'b')]])).toThrow(
    /not comparable:\n {2}chain-agent, round 1: a\n {2}viem 2\.40\.0, round 1: b$/,
  )
  expect(() =>
    checkTakes(programs, [
      [take(1, 'a'), take(1, 'a')],
      [take(1, 'c'), take(1, 'c')],
    ]),
  ).toThrow('round 2: c')
})

test('a figure that is not a number is a failure', () => {
  expect(() => checkTakes(['chain-agent'], [[take(Number.NaN)]])).toThrow('chain-agent, round 1: "CPU, s" is NaN')
})

test('the section of a failed comparison has no table', async () => {
  const { markdown, failure } = await report(
    Promise.resolve({
      programs: ['chain-agent', 'peer'],
      round: async () => Promise.resolve([take(1, 'a'), take(1, 'b')]),
    }),
  )
  expect(failure).toContain('peer, round 1: b')
  expect(markdown).toContain('**Failed**')
  expect(markdown).not.toContain('| CPU')
})

test('a peer that is missing is listed with the reason, the others are measured in each round', async () => {
  let rounds = 0
  const { markdown, failure, log, ratios } = await report(
    Promise.resolve({
      programs: ['chain-agent', 'peer'],
      skipped: [{ name: 'jq', reason: 'not installed' }],
      round: async () => Promise.resolve([take((rounds += 1), 'a'), take(4, 'a')]),
    }),
  )
  expect(failure).toBeUndefined()
  expect(markdown).toContain('| CPU, s | peer | 4 | 0.375 (0.25 to 0.5) |')
  expect(ratios).toEqual([{ figure: 'CPU, s', program: 'peer', value: 0.375 }])
  expect(markdown).toContain('The same result in each round: a.')
  expect(markdown).toContain('- Not measured: jq: not installed')
  expect(log).toContain('x: round 2 of 2')
})

test('a machine without the parts of a comparison is no failure', async () => {
  const { markdown, ratios, failure } = await report(Promise.reject(new Unavailable('systemd is missing')))
  expect([failure, markdown, ratios]).toEqual([undefined, '## Title (`x`)\n\nNot measured: systemd is missing', []])
})

test('what was started is stopped once, the last first', async () => {
  const stopped: string[] = []
  const cleanup = createCleanup()
  for (const name of ['server', 'client']) cleanup.defer(async () => Promise.resolve(stopped.push(name)))
  await Promise.all([cleanup.run(), cleanup.run()])
  expect(stopped).toEqual(['client', 'server'])
})

test('options: all comparisons go to the document, chosen ones to stdout', () => {
  expect(readOptions([])).toMatchObject({ output: join(ROOT, 'bench/README.md') })
  const comparisons = [{ name: 'tokens' }, { name: 'store' }]
  expect(readOptions(['--only', 'store', '--only', 'tokens'])).toMatchObject({ comparisons, output: '-' })
  expect(readOptions(['--check'])).toMatchObject({ check: true, output: '-' })
  expect(() => readOptions(['--only', 'tokns'])).toThrow('--only tokns: expected one of startup, agent,')
  expect(() => readOptions(['--check', '--large'])).toThrow('the recorded ratios are of the shorter histories')
})
