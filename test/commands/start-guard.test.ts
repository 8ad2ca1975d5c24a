import { describe, expect, test } from 'vitest'
import { blockBefore, BOOT, type FakeHost, openGuardedHost } from '../support/guarded-host.ts'

const HOUR = 3600
/** Block 99,800: 200 blocks of 300 ms are a minute. */
const A_MINUTE_AGO = [blockBefore(60)]
const KEY = 'the key 02abab..abab'
const ADVICE = 'stop that host; if it is stopped, run: sudo chain-agent start-guard --override'
const UNKNOWN = 'START ALLOWED: whether another host signs is unknown'
const refused = (evidence: string, age = '1 h'): string =>
  `START REFUSED: another host signs with ${KEY}: ${evidence}, and consensus has not run here for ${age}; ${ADVICE}`
const unseen = (sources: string): string => `START ALLOWED: no other host signs with ${KEY}, by ${sources}`
const BLOCK = 'block 99,800 of validator 7, 1 min ago'

interface Row {
  readonly name: string
  readonly host: FakeHost
  readonly line: string
  /** By the clock of the host; by default 0, as nothing hangs. */
  readonly seconds?: number
}

const MATRIX: readonly Row[] = [
  {
    name: '1. another host signs',
    host: { ranAgo: HOUR, references: [{ own: A_MINUTE_AGO }] },
    line: refused(`r1 has ${BLOCK}`),
  },
  {
    name: '2. the network is partitioned',
    host: { ranAgo: HOUR, references: [{ fault: 'refuses' }, { fault: 'hangs' }], agents: [{ fault: 'hangs' }] },
    line: `${UNKNOWN}: r1: no connection (ECONNREFUSED); r2: no answer in time; agent a1.simulated: no answer in time`,
    seconds: 2.5,
  },
  {
    name: '3. a reference lies: it has a block that two others lack',
    host: { ranAgo: HOUR, references: [{ own: A_MINUTE_AGO }, {}, {}] },
    line: `${unseen('r2, r3')}; unknown: r1 has ${BLOCK}, which other references lack`,
  },
  {
    name: '3. a reference lies: it lacks a block that two others have',
    host: { ranAgo: HOUR, references: [{}, { own: A_MINUTE_AGO }, { own: A_MINUTE_AGO }] },
    line: refused(`r2 has ${BLOCK}`),
  },
  {
    name: '3. one reference lies, and only one other has the block',
    host: { ranAgo: HOUR, references: [{ own: A_MINUTE_AGO }, {}] },
    line: `${unseen('r2')}; unknown: r1 has ${BLOCK}, which other references lack`,
  },
  {
    name: '3. a reference is behind, and its last blocks are those of this host',
    host: { ranAgo: 300, references: [{ own: [blockBefore(310)], behind: 120 }] },
    line: `${UNKNOWN}: r1: its newest block is from 2 min ago`,
  },
  {
    name: '4. no reference',
    host: { ranAgo: HOUR },
    line: `${UNKNOWN}: no RPC among the references, and no agent in startGuard.agents`,
  },
  {
    name: '5. the RPC of the reference is down',
    host: { ranAgo: HOUR, references: [{ fault: 'refuses' }] },
    line: `${UNKNOWN}: r1: no connection (ECONNREFUSED)`,
  },
  {
    name: '6. the reference hangs, and an agent decides',
    host: { ranAgo: HOUR, references: [{ fault: 'hangs' }], agents: [{ isActive: true }] },
    line: refused('agent a1.simulated reports that its node signs with it'),
    seconds: 2.5,
  },
  {
    name: '6. the agent hangs, and a reference decides',
    host: { ranAgo: HOUR, references: [{ own: A_MINUTE_AGO }], agents: [{ fault: 'hangs' }] },
    line: refused(`r1 has ${BLOCK}`),
    seconds: 2.5,
  },
  {
    name: '6. the journal hangs',
    host: { journal: 'hangs', references: [{ own: A_MINUTE_AGO }] },
    line: `${UNKNOWN}: no answer in time`,
    seconds: 1.5,
  },
  {
    name: '6. the journal cannot be read',
    host: { journal: 'fails', references: [{ own: A_MINUTE_AGO }] },
    line: `${UNKNOWN}: journalctl failed`,
  },
  {
    name: '6. the journal is frozen for an hour, and consensus ran meanwhile',
    host: { ranAgo: HOUR, journal: 'is frozen', references: [{ own: A_MINUTE_AGO }] },
    line: `${UNKNOWN}: the journal has no entry of the last minute`,
  },
  {
    name: '6. systemctl, the reference and the agent hang',
    host: { ranAgo: HOUR, systemctlHangs: true, references: [{ fault: 'hangs' }], agents: [{ fault: 'hangs' }] },
    line: `${UNKNOWN}: r1: no answer in time; agent a1.simulated: no answer in time`,
    seconds: 3.5,
  },
  {
    name: '7. the restart of this host: the last own block is 5 s old, the process ended 1 s ago',
    host: { ranAgo: 1, references: [{ own: [blockBefore(5)] }] },
    line: unseen('r1'),
  },
  {
    name: '7. the same, and the journal has no line of the run',
    host: { activeAgo: 1, references: [{ own: [blockBefore(5)] }] },
    line: unseen('r1'),
  },
  {
    name: '7. the same after 2 minutes: the own block is older than the end of the run',
    host: { ranAgo: 120, references: [{ own: [blockBefore(121)] }] },
    line: unseen('r1'),
  },
  {
    name: '8. a new key, which no validator has',
    host: { ranAgo: HOUR, references: [{ isRegistered: false }] },
    line: `${UNKNOWN}: r1: it has no validator with the key`,
  },
  {
    name: '8. a new keystore, and the configured key is the one before',
    host: { ranAgo: HOUR, keystoreChanged: 60, references: [{ own: A_MINUTE_AGO }] },
    line: `${UNKNOWN}: the keystore was changed after the last run, and the agent has read no status report since`,
  },
  {
    name: '8. no key is known',
    host: { ranAgo: HOUR, configuredKey: null, references: [{ own: A_MINUTE_AGO }] },
    line: `${UNKNOWN}: the key of this host is not known: set node.publicKey, or start the agent`,
  },
  {
    name: '9. two agents, the second one reports the identity',
    host: { ranAgo: HOUR, agents: [{}, { isActive: true }] },
    line: refused('agent a2.simulated reports that its node signs with it'),
  },
  {
    name: '9. the agent of this host, a minute after the restart of its node',
    host: { ranAgo: 1, agents: [{ isActive: true, boot: BOOT }] },
    line: unseen('agent a1.simulated'),
  },
  {
    name: '11. the clock of this host is an hour behind, and another host signs',
    host: { ranAgo: HOUR, clockBehind: HOUR, references: [{ own: A_MINUTE_AGO }] },
    line: refused(`r1 has ${BLOCK}`),
  },
  {
    name: '11. the clock of this host is an hour behind, and its node restarts',
    host: { ranAgo: 1, clockBehind: HOUR, references: [{ own: [blockBefore(5)] }] },
    line: unseen('r1'),
  },
  { name: '12. the first start ever', host: { references: [{}] }, line: unseen('r1') },
  {
    name: '12. the first start ever, with a key that signs elsewhere',
    host: { references: [{ own: A_MINUTE_AGO }] },
    line: refused(`r1 has ${BLOCK}`, '1 d'),
  },
  {
    name: 'the old primary is back after two hours; the block is older than its boot',
    host: { uptime: 40, previousBootEnded: 2 * HOUR, references: [{ own: A_MINUTE_AGO }] },
    // The journal may lack 5 minutes of 2 hours.
    line: refused(`r1 has ${BLOCK}`, '1 h 55 min'),
  },
  {
    name: 'a power cut of half a minute: the journal lacks the last minute, and the block is its own',
    host: { uptime: 40, previousBootEnded: 130, references: [{ own: A_MINUTE_AGO }] },
    line: unseen('r1'),
  },
]

test.each(MATRIX)('$name', async ({ host, line, seconds = 0 }) => {
  const result = await (await openGuardedHost(host)).guard()
  expect(result).toEqual({ code: line.startsWith('START REFUSED') ? 1 : 0, line, err: '', seconds })
  expect(result.seconds).toBeLessThan(4.5)
})

describe('10. the override', () => {
  test('allows one start', async () => {
    const { guard } = await openGuardedHost({ ranAgo: HOUR, references: [{ own: A_MINUTE_AGO }] })
    expect(await guard('--override')).toMatchObject({
      code: 0,
      line: 'The next start is allowed without a check: once, until the next boot.',
    })
    expect(await guard()).toMatchObject({ code: 0, line: 'START ALLOWED: overridden for this start, without a check' })
    expect(await guard()).toMatchObject({ code: 1, line: refused(`r1 has ${BLOCK}`) })
  })

  test('of another boot allows none', async () => {
    const host = await openGuardedHost({ ranAgo: HOUR, references: [{ own: A_MINUTE_AGO }] })
    await host.guard('--override')
    await host.reboot()
    expect((await host.guard()).code).toBe(1)
    await host.reboot(BOOT)
    expect((await host.guard()).code).toBe(1)
  })
})

test('in a unit the decision is a line of the journal, too, with its priority', async () => {
  const { guard } = await openGuardedHost({ ranAgo: HOUR, references: [{ own: A_MINUTE_AGO }], isInUnit: true })
  const { line, err } = await guard()
  expect(err).toBe(`<3>start guard: ${line}\n`)
})
