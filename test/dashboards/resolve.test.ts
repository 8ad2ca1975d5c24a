import { describe, expect, it, test } from 'vitest'
import type { Panel } from './model.ts'
import { alone } from './faults.ts'
import { type Chosen, interpolate, type Scene, sent, unresolved } from './resolve.ts'

const NOW = 1_795_000_000
const HOUR = 3600

const scene = (variables: Readonly<Record<string, Chosen>>): Scene => ({
  now: NOW,
  span: { from: NOW - 6 * HOUR, to: NOW },
  variables: new Map(Object.entries(variables)),
})
const one = (value: string): Chosen => ({ values: [value], isMany: false })
const many = (...values: string[]): Chosen => ({ values, isMany: true })

describe('interpolation of variables in an expression', () => {
  it.each<readonly [text: string, chosen: Chosen, expected: string]>([
    ['up{a=~"$v"}', one('x.y'), 'up{a=~"x.y"}'],
    // One of several values is escaped for a regular expression in a string.
    ['up{a=~"$v"}', many('x.y'), String.raw`up{a=~"x\\.y"}`],
    ['up{a=~"$v"}', many('x', 'y:1'), 'up{a=~"(x|y:1)"}'],
    // All, as defined by the variable.
    ['up{a=~"$v"}', { ...many('x', 'y'), verbatim: '.*' }, 'up{a=~".*"}'],
    ['${v}_total', one('x'), 'x_total'],
  ])('%s', (text, chosen, expected) => {
    expect(interpolate(text, scene({ v: chosen }))).toBe(expected)
  })

  it('a variable without a value stays and is reported', () => {
    expect(interpolate('up{a="$b"}', scene({}))).toBe('up{a="$b"}')
    expect(unresolved('up{a="$b", c="${d}"}')).toEqual(['$b', '${d}'])
    expect(unresolved('label_replace(up, "a", "$1", "b", "(.*)")')).toEqual([])
  })

  it('the range, the step, and the window of a rate', () => {
    const text = '$__range $__interval ${__rate_interval}'
    // A rate needs a step plus a scrape interval, and at least four scrape intervals.
    expect(interpolate(text, scene({}), 30)).toBe('21600s 30s 120s')
    expect(interpolate('$__rate_interval', scene({}), 300)).toBe('330s')
  })
})

describe('a target as it is sent', () => {
  const [panel] = alone().panels
  if (panel === undefined || panel.type === 'row') throw new Error('no panel')
  const at = (change: Partial<Panel>) => {
    const [target] = panel.targets ?? []
    if (!target) throw new Error('no target')
    return sent(scene({ job: one('j'), cluster: one('c'), instance: one('i') }), { ...panel, ...change }, target)
  }

  const NARROW = { gridPos: { ...panel.gridPos, w: 4 } }

  test.each([
    // 21,600 s over 1500 points are 14.4 s, but a scrape is 30 s.
    ['no finer than the scrapes', {}, 30],
    // Over 250 points they are 86.4 s.
    ['of a narrow panel', NARROW, 60],
  ])('the step is %s', (_name, change, step) => {
    expect(at(change).step).toBe(step)
  })

  it('a range begins and ends at multiples of its step', () => {
    const { span, expr, kind } = at(NARROW)
    expect(span).toEqual({ from: 1_794_978_360, to: 1_794_999_960 })
    expect(kind).toBe('range')
    expect(expr).toBe('chain_blocks_per_second{job=~"j", cluster=~"c", instance=~"i"}')
  })
})
