import { describe, expect, test } from 'vitest'
import { consensusUnit, database, packageHold, state } from '../../../src/commands/check/preflight/host.ts'
import { ownKey, references } from '../../../src/commands/check/preflight/network.ts'
import { preflight } from '../../../src/commands/check/preflight.ts'
import { freePort } from '../../support/free-port.ts'
import { context, type Host } from './context.ts'

describe('the database', () => {
  const failing = [{ name: 'storage', up: false }]
  const run = (host: Host) => database.run(context({ collectors: failing, ...host }))
  test('no finding while the report is available, or the device is readable', async () => {
    expect(await run({ collectors: [{ name: 'storage', up: true }], permits: { '/dev/triedb': 'no' } })).toEqual([])
    expect(await run({})).toEqual([])
  })
  test.each([
    ['none', 'there is no /dev/triedb'],
    ['no', 'this user may not read /dev/triedb'],
  ] as const)('the device: %s', async (permit, summary) => {
    expect(await run({ permits: { '/dev/triedb': permit } })).toMatchObject([{ summary, severity: 'warning' }])
  })
  test.each([
    ['none', 'the storage report does not exist'],
    ['no', 'this user may not read the storage report'],
  ] as const)('the report: %s', async (permit, summary) => {
    const set = [{ path: 'storage.reportFile', value: '/run/report.txt' }]
    // The device does not matter then.
    const permits = { '/run/report.txt': permit, '/dev/triedb': 'no' } as const
    expect(await run({ set, permits })).toMatchObject([{ summary }])
  })
})

test.each([
  ['yes', []],
  ['unknown', []],
  ['none', ['the agent has no state directory yet']],
  ['no', ['this user may not write the state directory of the agent']],
] as const)('the state directory: %s', async (permit, summary) => {
  const found = await state.run(context({ permits: { '/var/lib/chain-agent': permit } }))
  expect(found.map((one) => one.summary)).toEqual(summary)
  for (const { severity } of found) expect(severity).toBe('info')
})

describe('the references', () => {
  const run = (states: readonly string[]) => {
    const named = states.map((condition, at) => ({ name: 'abc'.charAt(at), state: condition }))
    const all = named.map(({ name }) => ({ name, url: `http://${name}.example`, kind: 'rpc' }))
    return references.run(
      context({
        set: [{ path: 'references', value: JSON.stringify(all) }],
        collectors: [{ name: 'reference', up: true, reading: { references: named, agreeing: 1 } }],
      }),
    )
  }
  test('none configured is information', async () => {
    const [found, ...more] = await references.run(context())
    expect(more).toEqual([])
    expect(found?.severity).toBe('info')
    expect(found?.summary).toContain('no reference is configured')
  })
  test('one of another chain is a warning; one that does not answer is an alert', async () => {
    expect(await run(['answering', 'another chain', 'refused'])).toMatchObject([
      { severity: 'warning', summary: 'the reference b is on another chain than the node' },
    ])
  })
})

describe('the unit of consensus', () => {
  const states = (...units: readonly (readonly [unit: string, state: string])[]) =>
    units.map(([unit, loaded]) => `Id=${unit}.service\nLoadState=${loaded}\n`).join('\n')
  const run = (shown: string) => consensusUnit.run(context({ tools: { 'systemctl show': shown } }))

  test('of a fork without -bft: which settings to change', async () => {
    expect(await run(states(['chain-bft', 'not-found'], ['chain', 'loaded']))).toMatchObject([
      {
        severity: 'warning',
        summary: 'there is no chain-bft.service, but there is a chain.service',
        advice: [expect.stringContaining('`consensus.unit: chain.service`')],
      },
    ])
  })
  test.each([
    ['as usual', states(['chain-bft', 'loaded'], ['chain', 'not-found'])],
    ['both', states(['chain-bft', 'loaded'], ['chain', 'loaded'])],
    ['no node', states(['chain-bft', 'not-found'], ['chain', 'not-found'])],
  ])('%s: no finding', async (_, shown) => {
    expect(await run(shown)).toEqual([])
  })
})

describe('the package of the node', () => {
  const run = (isHeld: boolean) =>
    packageHold.run(
      context({
        collectors: [{ name: 'version', up: true, reading: { package: { value: { package: 'chain', isHeld } } } }],
      }),
    )

  test('not on hold: how to hold it', async () => {
    expect(await run(true)).toEqual([])
    expect(await packageHold.run(context())).toEqual([])
    expect(await run(false)).toMatchObject([{ severity: 'info', advice: ['Hold it: `sudo apt-mark hold chain`.'] }])
  })
})

describe('the public key of the node', () => {
  const status = (secpPublicKey: string | null) => [
    { name: 'status', up: true, reading: { config: { secpPublicKey } } },
  ]
  test('unknown, it is information, with the command that finds it', async () => {
    const found = await ownKey.run(context({ collectors: status(null) }))
    expect(found).toMatchObject([{ severity: 'info' }])
    expect(found[0]?.summary).toMatch(/^the public key .* is unknown/)
    expect(found[0]?.advice[0]).toContain('sudo chain-agent init')
  })
  test('from the status report or the configuration, no finding', async () => {
    const key = `02${'ab'.repeat(32)}`
    expect(await ownKey.run(context({ collectors: status(key) }))).toEqual([])
    expect(await ownKey.run(context({ set: [{ path: 'node.publicKey', value: key }] }))).toEqual([])
  })
})

test('a check that fails is reported and does not affect the others', async () => {
  const host = context({ set: [{ path: 'listen', value: `127.0.0.1:${await freePort()}` }] })
  const { config, clock, signal, snapshot } = host
  // No program can be found.
  const found = await preflight({ config, clock, signal, snapshot, path: '/nowhere' })
  expect(found.map(({ summary }) => summary)).toEqual(
    expect.arrayContaining([
      'no agent watches this node',
      'the arguments of the services could not be checked',
      expect.stringContaining('no reference is configured'),
    ]),
  )
})
