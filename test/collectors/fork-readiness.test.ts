import { describe, expect, test } from 'vitest'
import { type NodeProperties, forkSamples, forkState, readinessFor } from '../../src/collectors/version/forks.ts'
import type { Fork } from '../../src/config/forks.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const AT = Date.UTC(2026, 8, 2, 14, 30)

const fork: Fork = { name: 'borealis', kind: 'fork', activationAt: AT, minimumVersion: '0.16.1', timeline: 'page' }
const runs = (version: string, source: 'rpc' | 'native' = 'native') => ({ source, version })
const healthy: NodeProperties = {
  installed: '0.16.1',
  running: [runs('0.16.1')],
  mismatch: null,
  hasPageTimeline: true,
  hasSlotPrimary: false,
}

/** The last of several versions is that of consensus; the one before it, of the RPC. */
const running = (versions: readonly string[]) =>
  versions.map((version, at) => runs(version, at === versions.length - 1 ? 'native' : 'rpc'))

const check = (node: Partial<NodeProperties>, now: number, of: Partial<Fork> = {}) => {
  const [found] = readinessFor([{ ...fork, ...of }], { ...healthy, ...node }, now)
  return Object.fromEntries((found?.checks ?? []).map((one) => [one.check, one.ready]))
}
const [OLD, NEW] = ['0.16.0', '0.16.1']

describe('the version', () => {
  test.each([
    // installed, running, more than a day before, a day before, after
    [NEW, [NEW], true, true, true],
    [NEW, [OLD], true, false, false], // installed in time, not restarted
    [NEW, [NEW, OLD], true, false, false], // half a restart
    [OLD, [OLD], false, false, false],
    [OLD, [NEW], false, false, false], // the next restart goes back
    ['0.16.1~rc', ['0.16.1'], false, false, false], // a candidate is not the release
    ['0.17.0', ['0.17.0-rc1'], true, true, true],
    [NEW, [], true, null, null], // the node is down, or hides its version
    [OLD, [], false, false, false],
    [null, [NEW], true, true, true],
    [null, [OLD], false, false, false],
    [null, [], null, null, null],
  ])('installed %j, running %j: %j, then %j, then %j', (installed, versions, ...expected) => {
    const at = (now: number) => check({ installed, running: running(versions) }, now)['version']
    expect([at(AT - DAY - 1), at(AT - DAY), at(AT + HOUR)]).toEqual(expected)
  })

  test('the version of the RPC does not prove that of consensus', () => {
    const at = (version: string, now: number) => check({ running: [runs(version, 'rpc')] }, now)['version']
    expect([at(NEW, AT), at(OLD, AT)]).toEqual([null, false])
  })

  test.each([
    // required, installed, running, whether a restart is pending, expected
    ['0.16.2+1', '0.16.2+1', '0.16.2', false, true],
    ['0.16.2+1', '0.16.2+1', '0.16.2', null, null], // an endpoint omits `+1`
    ['0.16.2+1', '0.16.2', '0.16.2', false, false],
    ['0.16.2+1', '0.16.2+1', '0.16.1', true, false],
    ['0.16.2+1', '0.16.3', '0.16.3', false, true],
    ['0.16.2', '0.16.2+1', '0.16.2', true, true], // the rebuild is not required
    ['0.16.2-rc', '0.16.2', '0.16.2', null, true],
  ])(
    '%j is required, %j installed, %j runs, restart pending %j: %j',
    (...[required, installed, runs_, mismatch, expected]) => {
      const node = { installed, mismatch, running: running([runs_]) }
      expect(check(node, AT, { minimumVersion: required })['version']).toBe(expected)
    },
  )
})

test('only the requirements of the fork are exported, and unknown is absent', () => {
  expect(check({ hasPageTimeline: false }, AT)).toEqual({ version: true, timeline: false })
  expect(check({ hasPageTimeline: false }, AT, { timeline: null })).toEqual({ version: true })
  expect(check({}, AT, { minimumVersion: null })).toEqual({ timeline: true })
  const [found] = readinessFor([fork], { ...healthy, hasPageTimeline: null }, AT)
  expect(found && forkSamples(found)).toEqual([
    { name: 'chain_fork_activation_timestamp_seconds', value: AT / 1000, labels: { fork: 'borealis' } },
    { name: 'chain_fork_ready', value: 1, labels: { fork: 'borealis', check: 'version' } },
  ])
})

test('a fork is omitted after thirty days, unless a requirement is not met or unknown', () => {
  const shown = (node: Partial<NodeProperties>, now: number) =>
    readinessFor([fork], { ...healthy, ...node }, now).length
  expect([shown({}, AT + 30 * DAY), shown({}, AT + 30 * DAY + 1)]).toEqual([1, 0])
  expect(shown({ running: running([OLD]) }, AT + 300 * DAY)).toBe(1)
  expect(shown({ hasPageTimeline: null }, AT + 300 * DAY)).toBe(1)
})

test('after the fork a slot-encoded primary timeline is left to promote, and the fork is not omitted', () => {
  const due = (node: Partial<NodeProperties>, now: number, of: Partial<Fork> = {}) =>
    readinessFor([{ ...fork, ...of }], { ...healthy, ...node }, now)[0]?.promotionDue
  const dual = { hasSlotPrimary: true }
  expect([due(dual, AT - 1), due(dual, AT), due(dual, AT + 300 * DAY)]).toEqual([false, true, true])
  expect(due(dual, AT, { timeline: null })).toBe(false)
  expect(due({}, AT)).toBe(false)
  // Not migrated at all: the timeline is not ready.
  expect(due({ ...dual, hasPageTimeline: false }, AT)).toBe(false)
})

test.each([
  [{}, /^ready for 2026-09-02T14:30Z$/],
  [{ hasSlotPrimary: true }, /^in force since 2026-09-02T14:30Z; the slot-encoded timeline is still primary: promote/],
  [{ running: running([OLD]), hasPageTimeline: null }, /^not ready for .*Z: upgrade to 0.16.1 or newer, and restart$/],
  [{ hasPageTimeline: false }, /^not ready for .*Z: the database has no page-encoded timeline: .*; migrate it$/],
  [{ running: [], hasPageTimeline: null }, /^2026-09-02T14:30Z; unknown: version, timeline$/],
])('%j in words', (node, words) => {
  const [found] = readinessFor([fork], { ...healthy, ...node }, AT)
  expect(found && forkState(found)).toMatch(words)
})
