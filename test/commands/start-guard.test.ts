import { describe, expect, onTestFinished, test } from 'vitest'
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { HttpRequest, HttpResponse } from '../../src/sources/http.ts'
import type { Exec } from '../../src/sources/exec.ts'
import { cli } from '../support/cli.ts'
import { createInFlight, manualClock, onManualClock } from '../support/manual-clock.ts'
import { shipped } from '../support/shipped.ts'
import { validatorWords, word } from '../support/staking-words.ts'

const { SourceError } = shipped

const KEY = `02${'ab'.repeat(32)}`
/** The time of the network. Blocks have 300 ms: block 100,000 is finalized now. */
const NOW = Date.UTC(2026, 2, 1, 12)
const HEAD = 100_000
const BLOCK_MS = 300
const BOOT = 'b'.repeat(32)
const VALIDATOR = 7

/** The newest block that was proposed at least this long ago. */
const blockBefore = (seconds: number): number => HEAD - Math.ceil((seconds * 1000) / BLOCK_MS)

const hex = (value: number): string => `0x${value.toString(16)}`
const hashOf = (block: number): string => `0x${word(block)}`

interface FakeReference {
  /** The blocks that it attributes to the validator. */
  readonly own?: readonly number[]
  /** How far it is behind, in seconds. */
  readonly behind?: number
  readonly isRegistered?: boolean
  readonly fault?: 'hangs' | 'refuses'
}

interface FakeAgent {
  readonly isActive?: boolean
  readonly boot?: string
  readonly fault?: 'hangs' | 'refuses'
}

interface FakeHost {
  readonly references?: readonly FakeReference[]
  readonly agents?: readonly FakeAgent[]
  /** How long ago consensus wrote its last line in this boot, in seconds. Without it: not in this boot. */
  readonly ranAgo?: number
  /** How long ago systemd has last seen the unit active, in seconds. Without it: it does not know. */
  readonly activeAgo?: number
  /** How long ago the boot before ended, in seconds. */
  readonly previousBootEnded?: number
  /** In seconds. */
  readonly uptime?: number
  /** How far the clock of the host is behind, in seconds. */
  readonly clockBehind?: number
  readonly configuredKey?: string | null
  /** How long ago the keystore was changed, in seconds. */
  readonly keystoreChanged?: number
  readonly journal?: 'hangs' | 'fails' | 'is frozen'
  readonly systemctlHangs?: boolean
  /** Whether its output is connected to the journal. */
  readonly isInUnit?: boolean
}

const validator = validatorWords({
  auth: '0x11',
  flags: 0n,
  stake: 0n,
  accumulator: 0n,
  commission: 0n,
  unclaimed: 0n,
  consensusStake: 0n,
  consensusCommission: 0n,
  snapshotStake: 0n,
  snapshotCommission: 0n,
  secp: KEY,
  bls: 'ee'.repeat(48),
})

const call = (
  { own = [], behind = 0, isRegistered = true }: FakeReference,
  method: string,
  [first, second]: readonly unknown[],
): unknown => {
  const head = HEAD - Math.ceil((behind * 1000) / BLOCK_MS)
  if (method === 'eth_getBlockByNumber') {
    const number = first === 'finalized' ? head : Number(first)
    return {
      number: hex(number),
      timestamp: hex(Math.floor((NOW - (HEAD - number) * BLOCK_MS) / 1000)),
      hash: hashOf(number),
    }
  }
  if (method === 'eth_getStorageAt') return `0x${(isRegistered ? word(VALIDATOR) : word(0)).slice(-16).padEnd(64, '0')}`
  if (method === 'eth_call') return `0x${validator}`
  if (method !== 'eth_getLogs' || typeof first !== 'object' || first === null)
    throw new Error(`${method} ${String(second)}`)
  const { fromBlock, toBlock, topics }: { fromBlock?: unknown; toBlock?: unknown; topics?: unknown } = first
  if (!Array.isArray(topics) || topics[1] !== `0x${word(VALIDATOR)}`) throw new Error('topics')
  return own
    .filter((block) => block >= Number(fromBlock) && block <= Number(toBlock))
    .map((block) => ({ blockNumber: hex(block), blockHash: hashOf(block) }))
}

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const end = (): void => {
      reject(new SourceError({ doing: 'wait', happened: 'it was aborted' }))
    }
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })

const faulty = async (fault: 'hangs' | 'refuses', signal: AbortSignal): Promise<never> => {
  if (fault === 'hangs') return untilAborted(signal)
  throw new SourceError({ doing: 'request it', happened: 'no connection (ECONNREFUSED)' })
}

const callSchema = z.object({ id: z.number(), method: z.string(), params: z.array(z.unknown()) })
type RpcCall = z.output<typeof callSchema>
const callsSchema = z.union([callSchema, z.array(callSchema)])

/** A host on which `start-guard` runs, with what it can see of others. */
const openGuardedHost = async (host: FakeHost) => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-guard-'))
  onTestFinished(async () => rm(directory, { recursive: true, force: true }))
  const { references = [], agents = [], uptime = 86_400, ranAgo, previousBootEnded, clockBehind = 0 } = host
  const { configuredKey = KEY, keystoreChanged, journal, systemctlHangs = false, activeAgo = uptime } = host
  await mkdir(join(directory, 'proc/sys/kernel/random'), { recursive: true })
  await mkdir(join(directory, 'node/config'), { recursive: true })
  await writeFile(join(directory, 'proc/sys/kernel/random/boot_id'), `${BOOT}\n`)
  await writeFile(join(directory, 'proc/uptime'), `${uptime}.00 0.00\n`)
  const configFile = join(directory, 'agent.yaml')
  const clock = manualClock(
    keystoreChanged === undefined ? NOW - clockBehind * 1000 : Date.now() + keystoreChanged * 1000,
  )
  if (keystoreChanged !== undefined) {
    await writeFile(join(directory, 'node/config/id-secp'), '{}')
    await utimes(join(directory, 'node/config/id-secp'), 0, 0)
  }
  const lines = [
    `node: {publicKey: ${configuredKey === null ? 'null' : `"${configuredKey}"`}, directory: ${directory}/node}`,
    `state: {directory: ${directory}/state}`,
    `host: {procfs: ${directory}/proc}`,
    `references: [${references.map((_, index) => `{name: r${index + 1}, url: "http://r${index + 1}.simulated"}`).join(', ')}]`,
    `startGuard: {agents: [${agents.map((_, index) => `"http://a${index + 1}.simulated"`).join(', ')}]}`,
  ]
  await writeFile(configFile, lines.join('\n'))

  let currentBoot = BOOT
  const entry = (secondsAgo: number, message: string, isOfBoot = true): string =>
    JSON.stringify({
      __CURSOR: `c${secondsAgo}`,
      __REALTIME_TIMESTAMP: String((NOW - secondsAgo * 1000) * 1000),
      ...(isOfBoot && { _BOOT_ID: currentBoot, __MONOTONIC_TIMESTAMP: String((uptime - secondsAgo) * 1_000_000) }),
      MESSAGE: message,
    })
  const exec: Exec = {
    run: async ({ command, args }, signal) => {
      const done = (stdout: string, exitCode = 0) => ({ stdout, stderr: '', exitCode })
      if (command === 'systemctl' && systemctlHangs) return untilAborted(signal)
      if (command === 'systemctl' && args[0] === 'show') return done(`${(uptime - activeAgo) * 1_000_000}\n`)
      if (command === 'systemctl') return done('chain-bft.service enabled\n')
      if (journal === 'hangs') return untilAborted(signal)
      if (journal === 'fails') throw new SourceError({ doing: 'read the journal', happened: 'journalctl failed' })
      if (args.includes('--boot=-1'))
        return previousBootEnded === undefined
          ? done('', 1)
          : done(`${entry(previousBootEnded, 'Journal stopped', false)}\n`)
      if (journal === 'is frozen' && args.at(-2) === '-n') return done(entry(3600, '{"level":"INFO"}'))
      // A refused attempt a second ago has lines of its own.
      const refused = [
        entry(1, '<3>start guard: START REFUSED'),
        entry(1, 'chain-bft.service: Control process exited, code=exited, status=1/FAILURE'),
      ]
      const ran = ranAgo === undefined ? [] : [entry(ranAgo, '{"level":"INFO"}')]
      return done((args.at(-2) === '-n' ? refused.slice(-1) : [...ran, ...refused]).join('\n'))
    },
    stream: () => {
      throw new Error('not used')
    },
    killAll: () => undefined,
  }
  const inFlight = createInFlight()
  const answer = async ({ url, init, signal }: HttpRequest): Promise<HttpResponse> => {
    const { hostname } = new URL(url)
    const at = Number(/\d+/.exec(hostname)?.[0] ?? 0) - 1
    const [reference, agent] = [hostname.startsWith('r') ? references[at] : undefined, agents[at]]
    const fault = reference ? reference.fault : hostname.startsWith('a') ? agent?.fault : 'refuses'
    if (fault) return faulty(fault, signal)
    const date = NOW
    if (reference) {
      const calls = callsSchema.parse(JSON.parse(init?.body ?? ''))
      const replyTo = ({ id, method, params }: RpcCall) => ({
        jsonrpc: '2.0',
        id,
        result: call(reference, method, params),
      })
      const reply = Array.isArray(calls) ? calls.map(replyTo) : replyTo(calls)
      return { status: 200, text: JSON.stringify(reply), date }
    }
    const { isActive = false, boot = 'c'.repeat(32) } = agent ?? {}
    const text = `chain_duty_identity_active{identity="${KEY}",boot="${boot}"} ${isActive ? 1 : 0}\n`
    return { status: 200, text, date }
  }
  return {
    reboot: async (boot = 'd'.repeat(32)): Promise<void> => {
      currentBoot = boot
      await writeFile(join(directory, 'proc/sys/kernel/random/boot_id'), `${boot}\n`)
    },
    /** Runs the command; `seconds` is how long it took on the clock of the host. */
    guard: async (...argv: readonly string[]) => {
      const began = clock.elapsed()
      const { code, out, err } = await onManualClock(clock, inFlight, () =>
        cli(['start-guard', ...argv], {
          env: {
            CHAIN_AGENT_CONFIG: configFile,
            PATH: directory,
            ...(host.isInUnit === true && { JOURNAL_STREAM: '8:1' }),
          },
          clock,
          overrides: { exec, ask: answer },
        }),
      )
      return { code, line: out.trimEnd(), err, seconds: (clock.elapsed() - began) / 1000 }
    },
  }
}

const HOUR = 3600
/** Block 99,800: 200 blocks of 300 ms are a minute. */
const A_MINUTE_AGO = [blockBefore(60)]
const NAMED = 'the key 02abab..abab'
const ADVICE = 'stop that host; if it is stopped, run: sudo chain-agent start-guard --override'
const UNKNOWN = 'START ALLOWED: whether another host signs is unknown'
const refused = (evidence: string, age = '1 h'): string =>
  `START REFUSED: another host signs with ${NAMED}: ${evidence}, and consensus has not run here for ${age}; ${ADVICE}`
const unseen = (sources: string): string => `START ALLOWED: no other host signs with ${NAMED}, by ${sources}`
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
