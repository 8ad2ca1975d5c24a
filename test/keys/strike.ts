import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { attach, type Call, CHANGES } from '../support/strace.ts'
import { type Ended, startPaused } from '../support/paused.ts'
import type { Bench } from './bench.ts'

const COMMAND = fileURLToPath(new URL('../fixtures/bin/keys-command.mjs', import.meta.url))

/** One call of the command's own process on the node's files. */
export interface Target {
  readonly role: 'main' | 'pool'
  readonly call: string
  /** Of the calls of this name by this thread. */
  readonly nth: number
  /** What is called with what, without what differs from run to run. */
  readonly signature: string
  /** As strace tells it. */
  readonly result: string
}

export interface Strike {
  readonly target: Target
  readonly what: string
}

interface Run {
  readonly ended: Ended
  readonly targets: readonly Target[]
}

/** Runs a command, and does something to one of its calls. Counted are those after its configuration was read. */
export const runTraced = async (
  bench: Bench,
  argv: readonly string[],
  strike?: Strike,
): Promise<Run> => {
  const { config, env, folder } = bench
  const paused = await startPaused({ argv: [COMMAND, ...argv], config, env })
  const { main, pool } = paused.threads
  const { target, what } = strike ?? {}
  const tracer = await attach({
    threads: target ? [paused.threads[target.role]] : [main, pool],
    calls: target ? [target.call] : CHANGES,
    file: join(folder, 'trace'),
    ...(target &&
      what !== undefined && { injection: { call: target.call, nth: target.nth, what } }),
  })
  const ended = await paused.proceed()
  const calls = await tracer.calls()
  return { ended, targets: targetsIn(calls, { folder, main }) }
}

/** How often, at most, it is tried to hit one call. */
const MOST_TRIES = 15

/**
 * The same on a scene of its own, and until the very call is hit: between two calls on files the thread now
 * and then wakes another with a `write`, and now and then finds it awake. What hit another call is handed to
 * `missed`, for that must not do harm either.
 */
export const strikeAt = async <T extends { readonly bench: Bench }>(
  make: () => Promise<T>,
  { argv, target, what }: Strike & { readonly argv: readonly string[] },
  missed: (scene: T) => Promise<void>,
): Promise<T & { readonly ended: Ended }> => {
  for (let tried = 1; tried <= MOST_TRIES; tried += 1) {
    const scene = await make()
    const nth = Math.max(1, target.nth + (SHIFTS[tried % SHIFTS.length] ?? 0))
    const { ended, targets } = await runTraced(scene.bench, argv, {
      target: { ...target, nth },
      what,
    })
    const hit = targets.find(({ result }) => /INJECTED|^\?/.test(result))
    if (hit?.signature === target.signature) return { ...scene, ended }
    await missed(scene)
    await scene.bench.remove()
  }
  throw new Error(`in ${MOST_TRIES} runs, not hit: ${target.signature}`)
}

/** By tried run: mostly the count is as it was, or one off. */
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
      // What is said of a file to a terminal or a pipe is no change of it.
      .filter(({ signature }) =>
        /^(?!write\(FD<\w+:).*(?:BENCH\/(?:node|backup)|\.made)/.test(signature),
      )
  )
}

const signatureOf = ({ name, arguments: words }: Call, folder: string): string =>
  `${name}(${words})`
    .replaceAll(folder, 'BENCH')
    .replaceAll(/%2F[^"/>]*%2F(id-\w+)\.made/g, '$1.made')
    .replaceAll(/\.\d+-[0-9a-f]+\.new/g, '.RUN.new')
    .replaceAll(/\.\d{14}\.bak/g, '.STAMP.bak')
    // Descriptors, and what was written.
    .replaceAll(/\b\d+</g, 'FD<')
    .replaceAll(/"[^"/]*"(?:\.\.\.)?, \d+/g, '"…"')
