import { join } from 'node:path'
import { attach, type Call, CHANGES } from '../support/strace.ts'
import { type Ended, startPaused } from '../support/paused.ts'
import { type Bench, MAIN } from './bench.ts'

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
