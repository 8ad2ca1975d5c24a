import { join } from 'node:path'
import { attach, type Call, CHANGES } from '../support/strace.ts'
import { type Bench, MAIN } from './bench.ts'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { text as textOf } from 'node:stream/consumers'
import { eventually } from '../support/eventually.ts'
import { must } from '../support/programs.ts'

/** One system call of the command's own process on the node's files. */
export interface Target {
  readonly role: 'main' | 'pool'
  readonly call: string
  /** Counted among the calls of this name by this thread, from 1. */
  readonly nth: number
  /** The call with its arguments, without what differs between runs. */
  readonly signature: string
  /** As strace prints it. */
  readonly result: string
}

export interface Injection {
  readonly target: Target
  readonly what: string
}

interface Run {
  readonly ended: Ended
  readonly targets: readonly Target[]
}

/** Runs a command and injects a fault into one of its calls. Calls are counted after it has read its configuration. */
export const runTraced = async (bench: Bench, argv: readonly string[], injection?: Injection): Promise<Run> => {
  const { config, env, folder } = bench
  const paused = await startPaused({ argv: [MAIN, 'keys', ...argv], config, env })
  const { main, pool } = paused.threads
  const { target, what } = injection ?? {}
  const tracer = await attach({
    threads: target ? [paused.threads[target.role]] : [main, pool],
    calls: target ? [target.call] : CHANGES,
    file: join(folder, 'trace'),
    ...(target && what !== undefined && { injection: { call: target.call, nth: target.nth, what } }),
  })
  const ended = await paused.proceed()
  const calls = await tracer.calls()
  return { ended, targets: targetsIn(calls, { folder, main }) }
}

/** The number of attempts to hit one call. */
const MOST_TRIES = 15

/**
 * Repeats the run, each time in a new scenario, until the target call is hit: between two calls on files the thread
 * sometimes wakes another thread with a `write`, which shifts the count. `missed` checks the runs in which another call
 * was hit: those must not do harm either.
 */
export const injectAt = async <T extends { readonly bench: Bench }>(
  make: () => Promise<T>,
  { argv, target, what }: Injection & { readonly argv: readonly string[] },
  missed: (scenario: T) => Promise<void>,
): Promise<T & { readonly ended: Ended }> => {
  for (let tried = 1; tried <= MOST_TRIES; tried += 1) {
    const scenario = await make()
    const nth = Math.max(1, target.nth + (SHIFTS[tried % SHIFTS.length] ?? 0))
    const { ended, targets } = await runTraced(scenario.bench, argv, { target: { ...target, nth }, what })
    const hit = targets.find(({ result }) => /INJECTED|^\?/.test(result))
    if (hit?.signature === target.signature) return { ...scenario, ended }
    await missed(scenario)
  }
  throw new Error(`in ${MOST_TRIES} runs, not hit: ${target.signature}`)
}

/** The shift of the count in each attempt: usually it is unchanged or off by one. */
const SHIFTS = [1, 0, 0, -1, 1, 0, 2, -1, -2]

const targetsIn = (
  calls: readonly Call[],
  { folder, main }: { readonly folder: string; readonly main: number },
): readonly Target[] => {
  const counts = new Map<string, number>()
  return (
    calls
      .map((call): Target => {
        const role = call.thread === main ? 'main' : 'pool'
        const nth = (counts.get(`${role} ${call.name}`) ?? 0) + 1
        counts.set(`${role} ${call.name}`, nth)
        const { name, result } = call
        return { role, call: name, nth, signature: signatureOf(call, folder), result }
      })
      // A write of a file name to a terminal or a pipe is no change of the file.
      .filter(({ signature }) => /^(?!write\(FD<\w+:).*(?:BENCH\/(?:node|backup)|\.made)/.test(signature))
  )
}

/** Calls with their paths below the bench, and without what differs between runs. */
export const withoutRun = (text: string, folder: string, bench: string): string =>
  text
    // The backup directory is open, and its files are named relative to it.
    .replaceAll(/\/proc\/self\/fd\/\d+/g, `${bench}/backup`)
    .replaceAll(folder, bench)
    .replaceAll(/%2F[^"/>]*%2F(id-\w+)\.made/g, '$1.made')
    .replaceAll(/\.\d+-[0-9a-f]+\.new/g, '.RUN.new')
    .replaceAll(/\.\d{14}\.bak/g, '.STAMP.bak')

const signatureOf = ({ name, arguments: words }: Call, folder: string): string =>
  withoutRun(`${name}(${words})`, folder, 'BENCH')
    // Descriptors, and what was written.
    .replaceAll(/\b\d+</g, 'FD<')
    .replaceAll(/"[^"/]*"(?:\.\.\.)?, \d+/g, '"…"')

interface Ended {
  /** Undefined where a signal ended it. */
  readonly code: number | undefined
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
}

/** A command that waits for its configuration: all of its code is loaded, and nothing is done yet. */
interface Paused {
  readonly pid: number
  /** The thread that JavaScript runs in, and the only one that libuv gives calls of the file system. */
  readonly threads: { readonly main: number; readonly pool: number }
  /** Hands it the configuration, and waits for its end. */
  proceed(): Promise<Ended>
}

interface Options {
  readonly argv: readonly string[]
  readonly config: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string>>
}

/** Node.js 24 loads modules without the thread pool: it has a thread from the first asynchronous call on. */
const START_POOL = ['--import', 'data:text/javascript,import { stat } from "node:fs/promises"; await stat("/")']
/** libuv has named its threads since Node.js 24. */
const POOL = 'libuv-worker\n'

/**
 * Starts a command whose configuration is a pipe. Where the calls of the file system are counted from there on, the
 * hundreds that Node needs for its modules are not among them.
 */
const startPaused = async ({ argv, config, env }: Options): Promise<Paused> => {
  const folder = await mkdtemp(join(tmpdir(), 'chain-agent-paused-'))
  const pipe = join(folder, 'config')
  await must('mkfifo', [pipe])
  // With a reader, the writer can be opened; with a writer, the command waits for what it writes.
  const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  const child = spawn(process.execPath, [...START_POOL, ...argv, '--config', '/dev/stdin'], {
    env: { ...env, UV_THREADPOOL_SIZE: '1' },
    stdio: [reader.fd, 'pipe', 'pipe'],
    timeout: 240_000,
  })
  const ended = once(child, 'close')
  const output = Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (stream ? (await textOf(stream)).replace(/\n$/, '') : '')),
  )
  const { pid } = child
  if (pid === undefined) throw new Error('the command could not be started')
  await eventually(async () => readFile(`/proc/${pid}/wchan`, 'utf8'), /pipe_read/, { every: 10 })
  await reader.close()
  // The kernel lists threads in the order in which they were created; by number, a later one may come first.
  const threads = (await readdir(`/proc/${pid}/task`)).map(Number)
  const names = await Promise.all(threads.map(async (id) => readFile(`/proc/${pid}/task/${id}/comm`, 'utf8')))
  return {
    pid,
    threads: { main: pid, pool: threads[names.indexOf(POOL)] ?? threads.at(-1) ?? pid },
    proceed: async () => {
      await writer.write(JSON.stringify(config))
      await writer.close()
      const [[stdout = '', stderr = '']] = await Promise.all([output, ended])
      await rm(folder, { recursive: true })
      return { code: child.exitCode ?? undefined, signal: child.signalCode ?? undefined, stdout, stderr }
    },
  }
}
