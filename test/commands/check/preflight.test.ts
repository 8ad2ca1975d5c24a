import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  consensusUnit,
  database,
  dropIns,
  journalGroup,
  packageHold,
  state,
} from '../../../src/commands/check/preflight/host.ts'
import { ownKey, references } from '../../../src/commands/check/preflight/network.ts'
import { preflight } from '../../../src/commands/check/preflight.ts'
import { temporaryFolder } from '../../support/directory.ts'
import { freePort } from '../../support/free-port.ts'
import { context, type Host } from './context.ts'

describe('the journal', () => {
  const error = { message: 'Could not read the journal: no', code: 'journal not permitted', advice: null } as const
  const run = (host: Host) => journalGroup.run(context({ collectors: [{ name: 'logs', up: false, error }], ...host }))
  test('no finding if it can be read, or for root', async () => {
    expect(await run({ collectors: [{ name: 'logs', up: true }] })).toEqual([])
    expect(await run({ user: { uid: 0, name: 'root', groups: [0] } })).toEqual([])
  })
  test('the user is in the group and may still not read it', async () => {
    const [found] = await run({
      tools: { 'getent group': 'systemd-journal:x:101:ann\nadm:x:4:syslog\n' },
      user: { uid: 1000, name: 'ann', groups: [1000, 101] },
    })
    expect(found?.summary).toMatch(/is in the group systemd-journal, and still may not/)
  })
})

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
  const run = (states: readonly string[], agreeing: number) => {
    const named = states.map((condition, at) => ({ name: 'abc'.charAt(at), state: condition }))
    const all = named.map(({ name }) => ({ name, url: `http://${name}.example`, kind: 'rpc' }))
    const reading = { references: named.map((one) => ({ ...one, up: one.state === 'answering' })), agreeing }
    return references.run(
      context({
        set: [{ path: 'references', value: JSON.stringify(all) }],
        collectors: [{ name: 'reference', up: true, reading }],
      }),
    )
  }
  test('none configured is information', async () => {
    const [found, ...more] = await references.run(context())
    expect(more).toEqual([])
    expect(found?.severity).toBe('info')
    expect(found?.summary).toContain('no reference is configured')
  })
  test.each([
    [['answering', 'answering'], 2, []],
    [['answering', 'refused', 'answering'], 2, ['info: b does not answer; the other references do']],
    [['answering', 'refused'], 1, ['warning: 1 of 2 references answers: the height of the network is unknown']],
    [['answering', 'answering'], 1, ['warning: the references disagree: the height of the network is unknown']],
    [['answering', 'another chain', 'answering'], 2, ['warning: the reference b is on another chain than the node']],
  ])('%j; %i agree', async (states, agreeing, expected) => {
    const found = await run(states, agreeing)
    expect(found.map(({ severity, summary }) => `${severity}: ${summary}`)).toEqual(expected)
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

describe('drop-ins', async () => {
  const directory = await temporaryFolder()
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text)
    return join(directory, name)
  }
  const run = async (blocks: readonly string[]) =>
    dropIns.run(context({ tools: { 'systemctl show': blocks.join('\n\n') } }))
  const block = (unit: string, paths: readonly string[], reload = 'no') =>
    `Id=${unit}\nLoadState=loaded\nFragmentPath=/lib/${unit}\nDropInPaths=${paths.join(' ')}\nNeedDaemonReload=${reload}`

  test('none, and a unit that does not exist', async () => {
    expect(await run([block('chain-bft.service', []), 'Id=x.service\nLoadState=not-found'])).toEqual([])
  })
  test('those without a command are information; a file of several units is listed once', async () => {
    const path = await write('limits.conf', '[Service]\nLimitNOFILE=1048576\n')
    const found = await run([block('chain-bft.service', [path]), block('chain-rpc.service', [path])])
    expect(found).toMatchObject([
      { severity: 'info', evidence: [`${path} sets LimitNOFILE (chain-bft and chain-rpc).`] },
    ])
  })
  test('one without a setting changes nothing', async () => {
    const path = await write('empty.conf', '[Service]\n# LimitNOFILE=1048576\n')
    expect(await run([block('chain-bft.service', [path])])).toEqual([])
  })
  test('one that cannot be read is listed', async () => {
    const path = join(directory, 'gone.conf')
    const [found] = await run([block('chain-bft.service', [path])])
    expect(found?.evidence).toEqual([`${path} cannot be read by this user (chain-bft).`])
  })
  test('files that systemd has not reloaded yet', async () => {
    const found = await run([block('chain-bft.service', [], 'yes')])
    expect(found).toMatchObject([
      { severity: 'warning', summary: 'systemd has not reloaded the changed files of chain-bft' },
    ])
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
      'the drop-ins of the units could not be checked',
      expect.stringContaining('no reference is configured'),
    ]),
  )
})
