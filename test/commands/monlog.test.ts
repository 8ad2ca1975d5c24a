import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config/load.ts'
import { openHost } from '../support/host.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

/** The scenario, the second at which the command runs, what the log shows, and the exit code. */
const TABLE = [
  ['stalled', 150, 'no block was committed in the last 60 seconds.', 2],
  // No peer is reachable: every round times out.
  ['deadlock', 150, 'no block was committed in the last 60 seconds.', 2],
  ['start-hangs', 90, 'consensus was started and is not live yet: it waits for the blocks of its forkpoint.', 1],
  [
    'panic',
    60,
    'the node has crashed: high qc too far ahead of block tree root, restart client and statesync. highqc: QC { .. }, block-tree root RootInfo { .. }.',
    2,
  ],
  ['info-only-log', 90, 'blocks were processed and committed.', 0],
  ['no-journal-permission', 90, 'could not read the journal: this user may not read it.', 2],
  // Half of the window is missing, and the rest shows blocks.
  ['journal-evicted', 90, 'blocks were processed and committed.', 0],
  // Three per second, for 60 s.
  ['network-noise', 120, '180 errors of the network layer, from 5 peers.', 1],
] as const

test.for(TABLE)('%s, second %i: %s', async ([scenario, second, summary, exitCode]) => {
  const host = await openHost({ scenario, second, agent: false })
  const { code, out, err } = await host.run(['monlog'])
  expect({ code, err }).toEqual({ code: exitCode, err: '' })
  const [state = '', recovery = ''] = (await host.run(['check'])).out.split('\n')
  const lines = out.split('\n')
  expect(lines[0]).toBe(state)
  expect(lines[1]?.startsWith('RECOVERY: ')).toBe(recovery.startsWith('RECOVERY: '))
  expect(lines).toContain(`LOG: ${summary}`)
})

test('in a crash: the recovery, but only the log of another time than now', async () => {
  const host = await openHost({ scenario: 'service-crash', second: 20 })
  await host.pass(16)
  expect((await host.run(['monlog'])).out).toMatch(/^CRITICAL: bft is down.*\nRECOVERY: .* together/)
  const until = new Date(host.now() - 60_000).toISOString()
  expect((await host.run(['monlog', '--until', until])).out).not.toContain('RECOVERY')
})

test('the facts follow, always in the same rows', async () => {
  const host = await openHost({ scenario: 'healthy', second: 90, agent: false })
  const until = new Date(host.now() - 2000).toISOString()
  const rowsOf = (out: string) =>
    new Map([...out.matchAll(/^ {2}(\w+(?: \w+)?) {2,}(.*)$/gm)].map(([, label = '', value = '']) => [label, value]))
  const { out } = await host.run(['monlog', '--until', until])
  const rows = rowsOf(out)
  expect(rows.get('package')).toMatch(/^chain 0\.1\d\.\d amd64$/)
  expect(rows.get('statesync')).toBe('No statesync messages.')
  expect(rows.get('blocksync')).toBe('No blocksync messages.')
  for (const what of ['round', 'epoch', 'block']) expect(rows.get(what)).toMatch(/^\d{1,3}(?:,\d{3})*$/)
  expect(rows.get('committed')).toMatch(/^yes: 1[56]\d blocks in 60 seconds$/)
  expect(rows.get('window')).toMatch(/Z to \S+Z, 60 seconds$/)
  // A second run prints the same: nothing depends on the current time.
  expect((await host.run(['monlog', '--until', until])).out).toBe(out)
  const short = await openHost({ scenario: 'journal-evicted', second: 90, agent: false })
  const evicted = rowsOf((await short.run(['monlog'])).out)
  expect([...evicted.keys()]).toEqual([...rows.keys()])
  expect(evicted.get('votes')).toBe('unknown')
  expect(evicted.get('window')).toContain('not all of it: the journal does not reach back that far')
})

describe('findings', () => {
  test('are shown with what to do', async () => {
    const host = await openHost({ scenario: 'deadlock', second: 150, agent: false, env: { COLUMNS: '60', LANG: 'C' } })
    const { out } = await host.run(['monlog'])
    expect(out).toContain('\nx No block was committed in the last 60 seconds.\n    > See whether')
    expect(out).toMatch(/x \d\d local timeouts of 1 round, and no block committed\./)
    const { out: raw } = await host.run(['monlog', '-r'])
    const [, ...shown] = raw.slice(raw.indexOf('The newest')).trimEnd().split('\n')
    expect(shown).toHaveLength(10)
    // Complete, whatever the width of the terminal.
    for (const line of shown) expect(JSON.parse(line.slice(13))).toBeInstanceOf(Object)
  })

  test('include advice if the journal may not be read', async () => {
    const host = await openHost({ scenario: 'no-journal-permission', second: 90, agent: false })
    const { out } = await host.run(['monlog'])
    expect(out).toContain('output: Hint: You are currently not seeing messages')
    expect(out).toContain('what to do: add the user to the group systemd-journal')
    expect(out).toContain('an open session does not get the group')
    const { out: json } = await host.run(['monlog', '--json'])
    expect(JSON.parse(json)).toMatchObject({ round: null, committing: null, findings: [] })
  })
})

const KEY = /\b0[23][0-9a-f]{2}\.\.[0-9a-f]{4}\b/

test('-r shows the newest lines, and -n names instead of keys', async () => {
  const host = await openHost({ scenario: 'own-timeouts', second: 120, agent: false })
  const { out: plain } = await host.run(['monlog'])
  expect(plain).not.toContain('The newest')
  const [short = ''] = KEY.exec(plain) ?? []

  const unnamed = await host.run(['monlog', '-n'])
  expect({ code: unnamed.code, err: unnamed.err }).toEqual({ code: 0, err: '' })
  expect(unnamed.out).toContain(short)
  expect(unnamed.out).toContain('\n  Keys are shown because names.file is not set: copy ')
  const names = join(host.directory, 'names.yaml')
  const { publicKey: own } = readConfig(host.configFile, { env: {}, flags: [] }).config.node
  await writeFile(names, `'${own}': Our Validator\n`)
  const { out } = await host.run(['monlog', '-n', '-r', '--set', `names.file=${names}`])
  expect(out).toMatch(/timed out .*Our Validator \(\d\)/)
  expect(out).not.toContain(short)
  const lines = out.slice(out.indexOf('The newest 10 lines:')).trimEnd().split('\n').slice(1)
  expect(lines).toHaveLength(10)
  for (const line of lines) {
    expect(line).toMatch(/^\d\d:\d\d:\d\d\.\d{3} \{"timestamp".*\}$/)
  }
})

testUsageErrors(
  ['monlog'],
  [
    [['--until', 'then'], 'expected a time'],
    [['--rww'], 'Did you mean --raw'],
    [['-n', '--set', 'names.file=/nowhere/names.yaml'], 'there is no such file'],
  ],
)
