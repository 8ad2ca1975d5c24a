import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseSpan, parseStatusReport } from '../../src/parsers/status.ts'

const healthy = readFileSync(new URL('../fixtures/status/v0.12.txt', import.meta.url), 'utf8')

describe('sections', () => {
  test('a height of one section is never taken for that of another', () => {
    const text = healthy.replace('  blockNumber: 8100000\n', '')
    const { consensus, rpc } = parseStatusReport(text)
    expect([consensus.blockNumber, rpc.blockNumber]).toEqual([null, 8_100_001n])
  })
  test('the whole text moved to the right, with tabs, colours and carriage returns', () => {
    const moved = healthy
      .split('\n')
      .map((line) => `    \u001B[1m${line}\u001B[0m`)
      .join('\r\n')
    const tabs = healthy.replaceAll('  ', '\t')
    const whole = parseStatusReport(healthy)
    expect(parseStatusReport(moved.replaceAll('\u001B[1m  ', '\u001B[1m      '))).toEqual(whole)
    expect(parseStatusReport(tabs)).toEqual(whole)
  })
  test('without indentation there are no sections, and nothing is guessed', () => {
    const { header, consensus, rpc } = parseStatusReport(healthy.replaceAll(/^ +/gm, ''))
    expect(header.hostname).toBe('rig-11')
    expect([consensus.blockNumber, rpc.blockNumber]).toEqual([null, null])
  })
  test('of two with the same path, the first', () => {
    expect(parseStatusReport(`${healthy}version: 9.9.9\n`).header.version).toBe('0.12.9')
  })
})

describe('services', () => {
  test.each(['chain', 'any', 'two-words'])('of a node named %s', (word) => {
    const { services, cleanup } = parseStatusReport(healthy.replaceAll('maker-', `${word}-`))
    expect(Object.keys(services)).toEqual(['bft', 'execution', 'rpc', 'otelcol'])
    expect(cleanup.activated).toBe(true)
  })
  test('an unknown word is kept unchanged', () => {
    const text = healthy.replace('maker-rpc: running', 'maker-rpc: auto-restart (3)')
    expect(parseStatusReport(text).services['rpc']).toBe('auto-restart (3)')
  })
  test('a thousand of them are cut to 32, like unknown keys', () => {
    const rows = Array.from({ length: 1000 }, (_, index) => `  maker-s${index}: running\n`).join('')
    const report = parseStatusReport(`services:\n${rows}noise:\n${rows}`)
    expect(Object.keys(report.services)).toHaveLength(32)
    expect(report.unknownKeys).toHaveLength(32)
  })
})

test.each([
  ['0d 00h 41m 49s', 2509],
  ['48min ago', -2880],
  ['11min', 660],
  ['1h 3min', 3780],
  ['1h 3min left', 3780],
  ['2 days', 172_800],
  ['1 week 1 day ago', -691_200],
  ['1 month', 2_629_800],
  ['500ms', 0.5],
  ['30s', 30],
  ['', null],
  ['-', null],
  ['n/a', null],
  ['5', null],
  ['5 parsecs', null],
  ['-5min', null],
])('span %j is %j seconds', (text, seconds) => {
  expect(parseSpan(text)).toBe(seconds)
})
