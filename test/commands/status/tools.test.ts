import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { statusDocument } from '../../../src/commands/status/page.ts'
import { sample, type Sample } from '../../../src/core/metric.ts'
import { overviewRows, sectionsFor } from '../../../src/health/sections/sections.ts'
import { parseStorageReport } from '../../../src/parsers/mpt.ts'
import { parseStatusReport } from '../../../src/parsers/status.ts'
import { parseUnits } from '../../../src/parsers/systemctl.ts'
import { NOON, shownIn, statusPage } from '../../support/status-page.ts'

const fixture = (path: string): string => readFileSync(new URL(`../../fixtures/${path}`, import.meta.url), 'utf8')

const page = (sections: readonly string[], readings: Readonly<Record<string, unknown>>) =>
  statusPage(sections, { readings })

/** A figure of the tool in the notation of `status`: binary units, separators of thousands. */
const inOurs = (figure: string): string =>
  figure
    .replace(/^(\d+)\.\d\d bytes$/, '$1 bytes')
    .replace(/ ([KMGTP])b$/, ' $1iB')
    .replace(/^-?\d+(?=$| chunks$)/, (digits) => digits.replace(/\B(?=(?:\d{3})+$)/g, ','))

describe('storage: every figure of the tool is shown', () => {
  /** Sizes, shares, ids, chunks, heights: all that is a figure in a report. */
  const FIGURES = /\d+\.\d\d (?:bytes|Kb|Mb|Gb|Tb|Pb)|\d+\.\d\d%|[0-9a-f]{64}|\d+ chunks|(?<![\w.])-?\d{2,}(?![\w.])/g

  test.each([
    ['a-v0.10.txt', 19],
    ['c-v0.14-two-devices.txt', 20],
    ['c-full-disk.txt', 16],
    ['d-dual.txt', 20],
    ['e-single.txt', 18],
    ['e-dual.txt', 22],
  ])('%s', (name, atLeast) => {
    const text = fixture(`mpt/${name}`)
    const figures = text.match(FIGURES) ?? []
    expect(figures.length).toBeGreaterThanOrEqual(atLeast)
    const lines = shownIn(page(['storage'], { storage: parseStorageReport(text) }))
    expect(figures.filter((figure) => !lines.includes(inOurs(figure)))).toEqual([])
  })

  test.each(['e-fresh.txt', 'c-after-statesync.txt'])('%s: never set is unknown', (name) => {
    const text = fixture(`mpt/${name}`)
    expect(text).toContain('18446744073709551615')
    const lines = shownIn(page(['storage'], { storage: parseStorageReport(text) }))
    expect(lines).not.toContain('18446744073709551615')
    expect(lines).toMatch(/^ {2}latest verified +unknown$/m)
  })
})

const SPEC = ['header', 'config', 'services', 'peers', 'consensus', 'statesync', 'rpc']

describe('the status report', () => {
  /** Said in other words, or with other digits. */
  const OTHERWISE: Readonly<Record<string, string>> = {
    uptime: '2 d 3 h',
    percentage: '97.50%',
    previous: 'last 17 min ago',
    next: 'next in 43 min',
    activated: 'activated, last',
  }

  test('v0.12: every value stands under its name', () => {
    const text = fixture('status/v0.12.txt')
    const values = [...text.matchAll(/^\s*([\w-]+): +(\S.*)$/gm)]
    expect(values.length).toBeGreaterThan(25)
    const lines = shownIn(page(SPEC, { status: parseStatusReport(text) }))
    const missing = values.filter(([, key = '', value = '']) => {
      const told = OTHERWISE[key] ?? value
      return !lines.includes(told) && !lines.includes(inOurs(told))
    })
    expect(missing.map(([line]) => line)).toEqual([])
  })

  test('in trouble: what is no value is unknown', () => {
    const what = page(SPEC, { status: parseStatusReport(fixture('status/in-trouble.txt')) })
    const lines = shownIn(what)
    for (const label of ['date', 'uptime', 'version', 'chain id', 'secp public key', 'mode']) {
      expect(lines).toMatch(new RegExp(`^  ${label} +unknown$`, 'm'))
    }
    expect(lines).toMatch(/^ {2}bft +! failed$/m)
    expect(lines).toMatch(/^ {2}execution +unknown$/m)
    expect(lines).toMatch(/^ {2}clean-up +! not activated, was due 5 min ago$/m)
    expect(lines).toMatch(/^ {2}status +! out-of-sync$/m)
    const { consensus, statesync, config } = statusDocument(what).sections
    expect(config).toMatchObject({ network: 'devnet', chainId: null, chain: null })
    expect(consensus).toMatchObject({
      status: 'out-of-sync',
      mode: null,
      epoch: '161',
      round: null,
      blockNumber: null,
      blockNumberFromExternal: null,
      blockDifference: null,
    })
    expect(statesync).toMatchObject({ percentage: null, progress: null, target: null })
  })
})

describe('a service', () => {
  const unit = (properties: string) => {
    const [found] = parseUnits(`Id=chain-bft.service\n${properties}`)
    const services = [{ ...found, service: 'bft', expected: true }]
    return shownIn(page(['bft'], { services: { services, timers: [], partialRestart: null } }))
  }

  test('that ended well by its own word is no less down', () => {
    const lines = unit(
      'LoadState=loaded\nActiveState=inactive\nSubState=dead\nResult=success\nNRestarts=0\n' +
        'ExecMainCode=1\nExecMainStatus=0\nExecMainExitTimestamp=Sun 2026-03-01 11:58:00 UTC\n',
    )
    expect(lines).toMatch(/^ {2}state +x inactive$/m)
    expect(lines).toMatch(/^ {2}ended +2026-03-01T11:58:00Z \(2 min ago\)$/m)
    expect(lines).toMatch(/^ {2}last exit +exit code 0$/m)
    expect(lines).toMatch(/^ {2}pid +none$/m)
    expect(lines).toMatch(/^ {2}open files +unknown$/m)
  })

  test('that systemd does not know', () => {
    expect(unit('LoadState=not-found\nActiveState=inactive\n')).toMatch(/^ {2}state +x not found$/m)
  })

  test('is asked for by label, by unit, and by a unit of any maker while he is not known', () => {
    const units = { services: { units: { bft: '{prefix}-bft.service', otelcol: 'otelcol.service' } } }
    const names = (word: string, prefix: string) => sectionsFor(word, { ...units, prefix }).map(({ name }) => name)
    expect(names('bft', 'auto')).toEqual(['{prefix}-bft'])
    expect(names('maker-bft', 'auto')).toEqual(['{prefix}-bft'])
    expect(names('chain-bft.service', 'chain')).toEqual(['{prefix}-bft'])
    expect(names('maker-bft', 'chain')).toEqual([])
    expect(names('-bft', 'auto')).toEqual([])
    expect(names('otelcol', 'chain')).toEqual(['otelcol'])
    expect(names('all', 'chain')).toHaveLength(20)
  })
})

const memory = sample('chain_host_memory_available_ratio', 0.6)
const synchronized = sample('chain_host_clock_synchronized', 1)
const closed = sample('chain_host_port_exposed', 0, { port: '8080' })
const block = [
  sample('chain_ledger_seq_num', 1000, { event: 'proposed' }),
  sample('chain_ledger_block_timestamp_seconds', NOON / 1000 - 2, { event: 'proposed' }),
]
const chainId = sample('chain_rpc_info', 1, { client_version: '', chain_id: '143', net_version: '' })
const silent = { rpc: { up: false, reason: 'timeout' } }
const answering = [1000, 1000].map((height, at) => ({ name: `r${at}`, up: true, blockNumber: String(height) }))
const reference = { references: answering, agreeing: 2 }
const running = [
  { source: 'native', version: '0.16.5' },
  { source: 'rpc', version: '0.16.5' },
]
const level = sample('chain_block_difference', 0)
const noDifference = 'difference unknown, references: none configured'

test.each<[string, string, Readonly<Record<string, unknown>>, readonly Sample[]]>([
  ['host', 'unknown', {}, []],
  ['host', 'ports unknown, memory 60.00% free, clock unknown', {}, [memory]],
  ['host', 'memory 60.00% free, clock synchronized', {}, [memory, synchronized, closed]],
  ['versions', '0.16.5 running, forks unknown', { version: { running, forks: [] } }, []],
  ['versions', '0.16.4 installed', { version: { installed: '0.16.4', running, forks: [] } }, [chainId]],
  ['chain', 'unknown', silent, []],
  ['chain', `1,000, ${noDifference}, block of 2 s ago`, silent, block],
  ['chain', '1,000, 0 blocks behind, block of 2 s ago', { ...silent, reference }, [...block, level]],
  ['chain', 'own height unknown, the network is at 1,000, difference unknown', { ...silent, reference }, []],
  [
    'chain',
    `start: no block until consensus is live, ${noDifference}`,
    silent,
    [sample('chain_native_start_active', 1)],
  ],
])('the row %s: %s', (row, text, ...[readings, samples]) => {
  const rows = overviewRows(statusPage([], { readings, samples }).view)
  expect(rows.find(({ label }) => label === row)?.text).toBe(text)
})
