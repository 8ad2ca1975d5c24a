import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import type { HttpRequest, HttpResponse } from '../../src/sources/http.ts'
import type { Exec } from '../../src/sources/exec.ts'
import { cli } from './cli.ts'
import { createInFlight, manualClock, onManualClock } from './manual-clock.ts'
import { shipped } from './shipped.ts'

const { SourceError } = shipped

const KEY = `02${'ab'.repeat(32)}`
/** The time of the network. Blocks have 300 ms: block 100,000 is finalized now. */
const NOW = Date.UTC(2026, 2, 1, 12)
const HEAD = 100_000
const BLOCK_MS = 300
export const BOOT = 'b'.repeat(32)
const VALIDATOR = 7

/** The newest block that was proposed at least this long ago. */
export const blockBefore = (seconds: number): number => HEAD - Math.ceil((seconds * 1000) / BLOCK_MS)

const word = (value: number | string): string =>
  (typeof value === 'number' ? value.toString(16) : value).padStart(64, '0')
const padded = (bytes: string): string => bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')
const hex = (value: number): string => `0x${value.toString(16)}`
const hashOf = (block: number): string => `0x${word(block)}`

export interface FakeReference {
  /** The blocks that it attributes to the validator. */
  readonly own?: readonly number[]
  /** How far it is behind, in seconds. */
  readonly behind?: number
  readonly isRegistered?: boolean
  readonly fault?: 'hangs' | 'refuses'
}

export interface FakeAgent {
  readonly isActive?: boolean
  readonly boot?: string
  readonly fault?: 'hangs' | 'refuses'
}

export interface FakeHost {
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

const validator = (): string =>
  [
    word('11'),
    ...Array.from({ length: 9 }, () => word(0)),
    word(12 * 32),
    word(15 * 32),
    word(33),
    padded(KEY),
    word(48),
    padded('ee'.repeat(48)),
  ].join('')

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
  if (method === 'eth_call') return `0x${validator()}`
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
export const openGuardedHost = async (host: FakeHost) => {
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
