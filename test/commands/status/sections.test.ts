import { describe, expect, test } from 'vitest'
import { statusDocument } from '../../../src/commands/status/page.ts'
import { sample } from '../../../src/core/metric.ts'
import { NOON, shownIn, statusPage } from '../../support/status-page.ts'

const HOUR = 3_600_000

describe('chain: how far behind is bad, by the time that it takes the chain', () => {
  // Three blocks a second: more than 5 s is worth a look, more than 20 s is bad.
  test.each([
    [15, '15 blocks behind'],
    [16, '! 16 blocks behind'],
    [60, '! 60 blocks behind'],
    [61, 'x 61 blocks behind'],
    [1, '1 block behind'],
    [-2, '2 blocks ahead'],
  ])('%d', (difference, expected) => {
    const samples = [sample('chain_block_difference', difference), sample('chain_blocks_per_second', 3)]
    const lines = shownIn(statusPage(['chain'], { samples }))
    expect(lines).toMatch(new RegExp(`^  block difference +${expected}$`, 'm'))
  })

  test('names of references are data, whatever they are', () => {
    const references = [{ name: '__proto__', up: false, blockNumber: null, state: 'timeout' }]
    const page = statusPage(['chain'], { readings: { reference: { references, agreeing: 0 } } })
    expect(shownIn(page)).toMatch(/^ {2}reference __proto__ +! timeout$/m)
    expect(JSON.stringify(statusDocument(page))).toContain(
      '"references":{"__proto__":{"up":false,"blockNumber":null,"state":"timeout","comparison":null}}',
    )
  })
})

describe('consensus in the overview', () => {
  const down = [
    sample('chain_service_expected', 1, { service: 'bft' }),
    sample('chain_service_active', 0, { service: 'bft' }),
    sample('chain_rpc_block_number', 500, { tag: 'latest' }),
    sample('chain_rpc_block_timestamp_seconds', NOON / 1000 - 40, { tag: 'latest' }),
  ]
  const readings = {
    consensus: { committing: true, epoch: '7', round: '1000' },
    status: { consensus: { status: 'in-sync', mode: 'live' } },
  }
  test('of a service that has ended: nothing of its last minute', () => {
    expect(shownIn(statusPage([], { samples: down, readings }))).toMatch(
      /^ {2}consensus +x stopped; last block 40 s ago, in epoch 7, round 1,000$/m,
    )
  })
  test.each([
    [0, 'blocks committed in 60 s, epoch 7, round 1,000, in-sync, live'],
    [40, '! last block 40 s ago, epoch 7, round 1,000, 3 s ago in-sync, live'],
  ])('of one that runs, its newest block %i s old: %s', (age, expected) => {
    const block = sample('chain_rpc_block_timestamp_seconds', NOON / 1000 - age, { tag: 'latest' })
    const lines = shownIn(statusPage([], { samples: [...down.slice(2, 3), block], readings }))
    expect(lines).toMatch(new RegExp(`^ {2}consensus +${expected}$`, 'm'))
  })
})

describe('statesync', () => {
  test('zeros are shown as the report has them, what it lacks is unknown', () => {
    const zeros = { progressRatio: 0, progressBlock: '0', targetBlock: '0' }
    const lines = shownIn(statusPage(['statesync'], { readings: { status: { statesync: zeros } } }))
    expect(lines).toMatch(/^ {2}percentage +0.00%$/m)
    expect(lines).toMatch(/^ {2}progress +0$/m)
    expect(lines).toMatch(/^ {2}target +0 \(no statesync needed\)$/m)
    const none = shownIn(statusPage(['statesync'], { readings: { status: { statesync: {} } } }))
    expect(none).toMatch(/^ {2}target +unknown$/m)
  })
})

describe('duties', () => {
  const duties = {
    rounds: 54_000,
    timeouts: 810,
    ownBlocks: 265,
    ownTimeouts: 3,
    expected: 270.04,
    shortfallProbability: 0.4421,
  }
  test('of a validator that is known', () => {
    const derived = { duties, identity: { key: '02ab', isActive: true } }
    const samples = [sample('chain_native_stake_ratio', 0.005)]
    const page = statusPage(['duties'], { readings: { derived }, samples })
    const lines = shownIn(page)
    expect(lines).toMatch(/^ {2}own blocks +265$/m)
    expect(lines).toMatch(/^ {2}own timeouts +! 3$/m)
    expect(lines).toMatch(/^ {2}own turns expected +270.0$/m)
    expect(lines).toMatch(/^ {2}probability of so few by chance +44.21%$/m)
    expect(lines).toMatch(/^ {2}share of the stake +0.50%$/m)
    expect(statusDocument(page).sections['duties']).toMatchObject({
      rounds: 54_000,
      timeouts: 810,
      ownBlocks: 265,
      ownTimeouts: 3,
      stakeRatio: 0.005,
    })
  })
  test('who the node is must be known to tell its own turns: they are counted as 0 until then', () => {
    const unassigned = { ...duties, ownBlocks: 0, ownTimeouts: 0, expected: null }
    const derived = { duties: unassigned, identity: null }
    const lines = shownIn(statusPage(['duties'], { readings: { derived } }))
    expect(lines).toMatch(/^ {2}rounds +54,000$/m)
    expect(lines).toMatch(/^ {2}own blocks +unknown \(the key of this node is not known yet\)$/m)
  })
})

test('versions: what runs, and what is lacking for a fork', () => {
  const version = {
    programs: { node: { ok: false, error: 'Could not run chain-node: exit code 1\n  output: no' } },
    package: { ok: true, value: { package: 'chain', version: '0.16.1' } },
    installed: '0.16.1',
    running: [{ source: 'native', version: '0.16.0' }],
    mismatch: true,
    forks: [
      {
        fork: { name: 'aurora', kind: 'fork', activationAt: NOON + 20 * HOUR, minimumVersion: '0.17.0' },
        checks: [
          { check: 'version', ready: false },
          { check: 'timeline', ready: null },
        ],
      },
    ],
  }
  const page = statusPage(['forks'], { readings: { version } })
  const lines = shownIn(page)
  expect(lines).toMatch(/^ {2}consensus runs +0.16.0$/m)
  expect(lines).toMatch(/^ {2}program node +unknown \(Could not run chain-node: exit code 1; output: no\)$/m)
  expect(lines).toMatch(/^ {2}restart pending +! yes: a service does not run the installed version$/m)
  expect(lines).toMatch(
    /^ {2}fork aurora +x NOT ready: version; unknown: timeline, 2026-03-02T08:00:00Z \(in 20 h\), needs 0.17.0$/m,
  )
  expect(statusDocument(page).sections['versions']).toMatchObject({
    restartPending: true,
    forks: { aurora: { ready: false, checks: { version: false, timeline: null } } },
  })
})

test('host: what is not healthy is marked, and unknown values have a reason', () => {
  const samples = [
    sample('chain_host_kernel_info', 1, { kernel: 'running', release: '6.8.0-56' }),
    sample('chain_host_kernel_blocked', 1, { kernel: 'running' }),
    sample('chain_host_clock_synchronized', 1),
    sample('chain_host_clock_offset_seconds', -0.6),
    sample('chain_host_port_exposed', 1, { port: '8081' }),
    sample('chain_host_port_exposed', 0, { port: '8080' }),
    sample('chain_host_filesystem_size_bytes', 100 * 1024 ** 3, { directory: 'ledger' }),
    sample('chain_host_filesystem_available_bytes', 4 * 1024 ** 3, { directory: 'ledger' }),
    sample('chain_host_nvme_info', 1, { device: 'nvme0', model: 'M', firmware: 'F' }),
    sample('chain_host_nvme_media_errors_total', 2, { device: 'nvme0' }),
  ]
  const host = {
    memory: { samples: [], state: 'not known: no /proc' },
    throttling: { samples: [], state: 'not available on this host' },
  }
  const lines = shownIn(statusPage(['host'], { readings: { host }, samples }))
  expect(lines).toMatch(/^ {2}kernel +x 6.8.0-56: known to be bad for nodes$/m)
  expect(lines).toMatch(/^ {2}clock ahead by +x -600.0 ms$/m)
  expect(lines).toMatch(/^ {2}exposed ports +x 8081$/m)
  expect(lines).toMatch(/^ {2}space of ledger +x 4.00 GiB free of 100.00 GiB, 4.00%$/m)
  expect(lines).toMatch(/^ {2}drive nvme0 +x M, firmware F, critical warning unknown, media errors 2$/m)
  expect(lines).toMatch(/^ {2}memory available +unknown \(not known: no \/proc\)$/m)
  expect(lines).toMatch(/^ {2}throttling +not available on this host$/m)
})

test('keys: the state of each, and in the overview how many are not well', () => {
  const file = (key: string, state: string | null, why: string | null) => ({ key, kind: 'backup', state, why })
  const keys = [
    file('secp', 'exposed', 'others may read it'),
    file('bls', 'ok', null),
    file('password', null, 'may not look'),
  ]
  const page = statusPage(['keys'], { readings: { keys } })
  const lines = shownIn(page)
  expect(lines).toMatch(/^ {2}secp backup +x exposed: others may read it$/m)
  expect(lines).toMatch(/^ {2}password backup +unknown: may not look$/m)
  expect(statusDocument(page).sections['keys']).toMatchObject({ backup: { password: { state: null } } })
  const gone = [...keys, ...keys].map((one) => ({ ...one, state: 'missing' }))
  expect(shownIn(statusPage([], { readings: { keys: gone } }))).toMatch(/^ {2}keys +x 6 of 6 missing$/m)
})

test('maintenance: until when, and none is another thing than unknown', () => {
  const until = '2026-03-01T12:30:00.000Z'
  const now = { reason: 'upgrade', until, note: 'to 0.17' }
  const lines = shownIn(statusPage(['maintenance'], { readings: { maintenance: now } }))
  expect(lines).toMatch(/^ {2}reason +upgrade$/m)
  expect(lines).toMatch(/^ {2}until +2026-03-01T12:30:00Z \(in 30 min\)$/m)
  expect(lines).toMatch(/^ {2}note +to 0.17$/m)
  const none = { reason: null, until: null, note: null }
  expect(shownIn(statusPage(['maintenance'], { readings: { maintenance: none } }))).toMatch(/announced +no$/m)
  expect(shownIn(statusPage(['maintenance'], {}))).toMatch(/announced +unknown$/m)
})

describe('why something is unknown', () => {
  const failure = (message: string) => ({ message, code: null, advice: null })
  const why = (collector: object) => {
    const lines = shownIn(statusPage(['peers'], { collectors: [{ name: 'status', ...collector }] }))
    return /^ {2}status: (.*)$/m.exec(lines)?.[1]
  }
  test.each([
    [{ enabled: false, up: null }, 'disabled in the configuration, or nothing to read'],
    [{ up: null }, 'the first attempt has not finished'],
    [{ up: false }, 'stale: no reading within the expected time'],
    [{ up: false, error: failure('Could not:\n  it said: x') }, 'Could not:; it said: x'],
    [{ up: false, error: failure('Could not'), hasReading: true }, 'Could not (showing the previous reading)'],
    [{ hasReading: true }, undefined],
  ])('%j', (collector, expected) => {
    expect(why(collector)).toBe(expected)
  })
})
