import { expect, test } from 'vitest'
import { parseUsage, type UnitUsage, usedBetween } from '../../bench/usage.ts'

/** Lines of one unit: CPU time in ms, of the threads from the first on. */
const block = (cpu: number, threads: readonly (readonly [number, number, string])[], children: string): string =>
  [
    `unit 98 ${cpu * 1000}`,
    ...threads.map(([id, used, name]) => `thread ${id} ${used * 1e6} ${name}`),
    children,
    'memory 102400 51200',
    'memory 2048 1024',
    '',
  ].join('\n')

const one = (text: string): UnitUsage => {
  const [usage] = parseUsage(text)
  if (usage === undefined) throw new Error(`no unit in ${text}`)
  return usage
}

/** Main thread, delayed tasks, two V8 workers, libuv pool; a shell lists 100 before 98. */
const threads = (main: number, delayed: number, [v8, pool]: readonly [number, number]) =>
  [
    [100, v8, 'node'],
    [101, v8, 'node'],
    [102, pool, 'node'],
    [98, main, 'node'],
    [99, delayed, 'node'],
  ] as const

test('the parts of a unit are those of its threads, of children that live, and the rest', () => {
  const before = one(block(1000, threads(500, 10, [100, 20]), 'child 110 30000000\nchild 111 90000000'))
  // +1000 ms: main 300, delayed 10, V8 2 × 100, pool 50, child 110 40; 111 has ended, and 112 has started.
  const after = one(block(2000, threads(800, 20, [200, 70]), 'child 110 70000000\nchild 112 200000000'))
  const used = usedBetween(before, after)
  expect(used.cpu).toBeCloseTo(1, 9)
  const parts = used.parts(2)
  expect(Object.keys(parts)).toEqual([
    'main thread',
    'V8 workers',
    'other threads',
    'living children',
    'short-lived children',
  ])
  const expected = [0.3, 0.2, 0.06, 0.04, 0.4]
  for (const [index, seconds] of Object.values(parts).entries()) expect(seconds).toBeCloseTo(expected[index] ?? 0, 9)
  // With one V8 worker, thread 101 is another thread.
  expect(used.parts(1)['V8 workers']).toBeCloseTo(0.1, 9)
  expect(used.memory).toEqual([
    { rss: 100, anonymous: 50 },
    { rss: 2, anonymous: 1 },
  ])
})

test('V8 workers are those with the name, where Node.js names its threads', () => {
  const named = (v8: number) =>
    block(
      v8 * 2,
      [
        [98, 0, 'MainThread'],
        [99, 0, 'DelayedTaskSche'],
        [100, 0, 'libuv-worker'],
        [101, v8, 'V8Worker'],
      ],
      '',
    )
  expect(usedBetween(one(named(0)), one(named(100))).parts(4)['V8 workers']).toBeCloseTo(0.1, 9)
})

test('a process that ended while it was read has no numbers; each unit has its own lines', () => {
  const usages = parseUsage(
    'unit 98 1000\nthread 98 1 node\nthread 99  \nchild 100 \nmemory\nunit 7 2000\nmemory 1024 512\n',
  )
  expect(
    usages.map(({ mainPid, threads: all, children, memory }) => [mainPid, all.length, children.size, memory]),
  ).toEqual([
    [98, 1, 0, []],
    [7, 0, 0, [{ rss: 1, anonymous: 0.5 }]],
  ])
})

test('a unit that restarted cannot be compared with itself', () => {
  const usage = one(block(1000, [], ''))
  expect(() => usedBetween(usage, { ...usage, mainPid: 99 })).toThrow(
    'a unit restarted while it was measured: process 98, then 99',
  )
})
