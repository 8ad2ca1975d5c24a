import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { database } from '../../../src/commands/check/preflight/database.ts'
import { dropIns } from '../../../src/commands/check/preflight/drop-ins.ts'
import { journalGroup } from '../../../src/commands/check/preflight/journal-group.ts'
import { references } from '../../../src/commands/check/preflight/references.ts'
import { state } from '../../../src/commands/check/preflight/state.ts'
import { preflight } from '../../../src/commands/check/preflight.ts'
import { freePort } from '../../support/free-port.ts'
import { type Host, visit } from './visit.ts'

const BARRED = [
  { name: 'logs', up: false, error: 'Could not read the journal: this user may not read it' },
]

describe('the journal', () => {
  const groups = (members: string) => `systemd-journal:x:101:${members}\nadm:x:4:syslog\n`
  const look = (host: Host) => journalGroup.look(visit({ told: BARRED, ...host }))
  test('who reads it is told nothing', async () => {
    expect(await journalGroup.look(visit({ told: [{ name: 'logs', up: true }] }))).toEqual([])
  })
  test('who is in the group, and was when he logged in, is told no lie about it', async () => {
    const [found] = await look({
      tools: { 'getent group': groups('ann') },
      user: { uid: 1000, name: 'ann', groups: [1000, 101] },
    })
    expect(found?.says).toMatch(/is in the group systemd-journal, and still may not/)
  })
  test('who was added to it since needs a new login', async () => {
    const [found] = await look({ tools: { 'getent group': groups('bob,ann') } })
    expect(found).toMatchObject({
      severity: 'warning',
      says: 'this session has not got the group systemd-journal yet, though ann is in it',
    })
    expect(found?.advice.join(' ')).toMatch(/Log in anew.*systemctl restart chain-agent/)
  })
  test('who is in neither is told which, and how', async () => {
    const [found] = await look({ tools: { 'getent group': groups('anne') } })
    expect(found?.says).toBe('the user ann is in no group that may read the journal')
    expect(found?.advice[0]).toContain('usermod -aG systemd-journal ann')
  })
  test('root is never a matter of groups', async () => {
    expect(await look({ user: { uid: 0, name: 'root', groups: [0] } })).toEqual([])
  })
})

describe('the database', () => {
  const failing = [{ name: 'storage', up: false, error: 'it aborted' }]
  const look = (host: Host) => database.look(visit({ told: failing, ...host }))
  test('nothing while its report comes', async () => {
    const host = {
      told: [{ name: 'storage', up: true }],
      permits: { '/dev/triedb': 'no' },
    } as const
    expect(await database.look(visit(host))).toEqual([])
  })
  test('nothing where the device is not the matter', async () => {
    expect(await look({})).toEqual([])
  })
  test.each([
    ['none', 'there is no /dev/triedb'],
    ['no', 'this user may not read /dev/triedb'],
  ] as const)('the device: %s', async (permit, says) => {
    expect(await look({ permits: { '/dev/triedb': permit } })).toMatchObject([
      { says, severity: 'warning' },
    ])
  })
  test.each([
    ['none', 'nobody has written the report on the database'],
    ['no', 'this user may not read the report on the database'],
  ] as const)('the report: %s', async (permit, says) => {
    const set = [{ path: 'storage.reportFile', value: '/run/report.txt' }]
    // The device does not matter then.
    const permits = { '/run/report.txt': permit, '/dev/triedb': 'no' } as const
    expect(await look({ set, permits })).toMatchObject([{ says }])
  })
})

test.each([
  ['yes', []],
  ['unknown', []],
  ['none', ['the agent has no state directory yet']],
  ['no', ['this user may not write the state directory of the agent']],
] as const)('the state directory: %s', async (permit, says) => {
  const found = await state.look(visit({ permits: { '/var/lib/chain-agent': permit } }))
  expect(found.map((one) => one.says)).toEqual(says)
  for (const { severity } of found) expect(severity).toBe('info')
})

describe('the references', () => {
  const look = (states: Readonly<Record<string, string>>, agreeing: number) => {
    const names = Object.keys(states)
    const all = names.map((name) => ({ name, url: `http://${name}.example`, kind: 'rpc' }))
    const reading = {
      references: names.map((name) => ({
        name,
        up: states[name] === 'answering',
        state: states[name],
      })),
      agreeing,
    }
    return references.look(
      visit({
        set: [{ path: 'references', value: JSON.stringify(all) }],
        told: [{ name: 'reference', up: true, reading }],
      }),
    )
  }
  const says = async (...asked: Parameters<typeof look>) =>
    (await look(...asked)).map((one) => `${one.severity}: ${one.says}`)
  test('none is no fault, and has its price', async () => {
    const [found, ...more] = await references.look(visit())
    expect(more).toEqual([])
    expect(found?.severity).toBe('info')
    expect(found?.says).toContain('no reference is configured')
  })
  test('all answer and agree', async () => {
    expect(await says({ a: 'answering', b: 'answering' }, 2)).toEqual([])
  })
  test('one of three is away: the two decide', async () => {
    expect(await says({ a: 'answering', b: 'refused', c: 'answering' }, 2)).toEqual([
      'info: b does not answer; the other references do',
    ])
  })
  test('one of two is away: nobody decides', async () => {
    expect(await says({ a: 'answering', b: 'refused' }, 1)).toEqual([
      'warning: 1 of 2 references answers: how far the network is, is not known',
    ])
  })
  test('they disagree', async () => {
    expect(await says({ a: 'answering', b: 'answering' }, 1)).toEqual([
      'warning: the references disagree: how far the network is, is not known',
    ])
  })
  test('one is of another chain', async () => {
    expect(await says({ a: 'answering', b: 'another chain', c: 'answering' }, 2)).toEqual([
      'warning: the reference b is of another chain than the node',
    ])
  })
})

describe('drop-ins', () => {
  let directory = ''
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'chain-agent-preflight-'))
  })
  afterEach(async () => {
    await rm(directory, { recursive: true, force: true })
  })
  const SECRET = 'Hunter2SecretValue'
  const write = async (name: string, text: string): Promise<string> => {
    await writeFile(join(directory, name), text)
    return join(directory, name)
  }
  const look = async (blocks: readonly string[]) =>
    dropIns.look(visit({ tools: { 'systemctl show': blocks.join('\n\n') } }))
  const block = (unit: string, paths: readonly string[], reload = 'no') =>
    `Id=${unit}\nLoadState=loaded\nFragmentPath=/lib/${unit}\nDropInPaths=${paths.join(' ')}\nNeedDaemonReload=${reload}`

  test('none, and a unit that is not there', async () => {
    expect(
      await look([block('chain-bft.service', []), 'Id=x.service\nLoadState=not-found']),
    ).toEqual([])
  })
  test('one that overrides the command is a warning, and its text never comes out', async () => {
    const path = await write(
      'override.conf',
      `[Service]\nExecStart=\nExecStart=/bin/node --keystore-password ${SECRET} \\\n  Other${SECRET}=${SECRET}\n# Commented=${SECRET}\nEnvironment="KEYSTORE_PASSWORD=${SECRET}"\nLimitNOFILE=1024\n`,
    )
    const found = await look([block('chain-bft.service', [path])])
    expect(found).toMatchObject([
      {
        severity: 'warning',
        says: 'a drop-in overrides the command of chain-bft',
        evidence: [`${path} sets ExecStart, Environment and LimitNOFILE (chain-bft).`],
      },
    ])
    expect(JSON.stringify(found)).not.toContain(SECRET)
  })
  test('a comment within a long line does not end it', async () => {
    const text = `[Service]\nExecStart=/bin/node \\\n# why\n  Pass${SECRET}=1\nNice=5\n`
    const [found] = await look([block('chain-bft.service', [await write('long.conf', text)])])
    expect(found?.evidence[0]).toMatch(/ sets ExecStart and Nice \(chain-bft\)\.$/)
  })
  test('others are information; one file of several units is told once', async () => {
    const path = await write('limits.conf', '[Service]\nLimitNOFILE=1048576\n')
    const found = await look([
      block('chain-bft.service', [path]),
      block('chain-rpc.service', [path]),
    ])
    expect(found).toMatchObject([
      { severity: 'info', evidence: [`${path} sets LimitNOFILE (chain-bft and chain-rpc).`] },
    ])
  })
  test('one without a setting changes nothing', async () => {
    const path = await write('empty.conf', '[Service]\n# LimitNOFILE=1048576\n')
    expect(await look([block('chain-bft.service', [path])])).toEqual([])
  })
  test('one that cannot be read is said to be there', async () => {
    const path = join(directory, 'gone.conf')
    const [found] = await look([block('chain-bft.service', [path])])
    expect(found?.evidence).toEqual([`${path} cannot be read by this user (chain-bft).`])
  })
  test('files that systemd has not read yet', async () => {
    const found = await look([block('chain-bft.service', [], 'yes')])
    expect(found).toMatchObject([
      { severity: 'warning', says: 'systemd has not read the changed files of chain-bft' },
    ])
  })
})

test('what cannot be looked at is said, and hinders nothing else', async () => {
  const host = visit({ set: [{ path: 'listen', value: `127.0.0.1:${await freePort()}` }] })
  const { config, clock, signal, picture } = host
  // No program is to be had.
  const found = await preflight({ config, clock, signal, picture, path: '/nowhere' })
  expect(found.map(({ says }) => says)).toEqual(
    expect.arrayContaining([
      'no agent watches this node',
      'the drop-ins of the units could not be looked at',
      expect.stringContaining('no reference is configured'),
    ]),
  )
})
