import { execa } from 'execa'
import type { Clock } from '../core/clock.ts'
import { failureOf, textOf } from './exec-failure.ts'
import { createSlots, type Slots } from './slots.ts'

export interface Output {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** What to run. The first argument is shown in errors. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** Between the polite and the final signal, in milliseconds. */
  readonly grace?: number
  /** Exit codes that are answers; 0 alone without them, and for a stream none. */
  readonly answers?: readonly number[]
}

/** Runs the tools of the node and of systemd: few at a time, each bounded in time and output. */
export interface Exec {
  /** The output of a program that ended with an answer; SourceError for every other end. */
  run(program: Program, signal: AbortSignal): Promise<Output>
  /**
   * The standard output of a program, as it comes; a SourceError when it ends, but for an end that
   * `answers` names: a program that is to go on names none.
   */
  stream(program: Program, signal: AbortSignal): AsyncGenerator<Uint8Array>
  /** Ends every child that is still there, at once. Whatever ends our process does so, too. */
  killAll(): void
}

interface Options {
  readonly clock: Clock
  /** Where programs are looked for. Children inherit nothing else of the environment. */
  readonly path: string
}

/** No tool of ours prints more; a tool gone mad is cut off. */
const MAX_OUTPUT_BYTES = 4 * 1024 * 1024
const MAX_CHILDREN = 8
/** Of one program: a journalctl that hangs, which several collectors call, must not hold up the others' tools. */
const MAX_OF_ONE = 4
/** Between the polite and the final signal. A tool that hangs in its own abort handler ignores the first. */
const GRACE_MS = 2000

/** Every child of this process: in a group of its own, none ends with us by itself. */
const living = new Set<number>()
const killLiving = (): void => {
  for (const pid of living) killGroup(pid, 'SIGKILL')
}

export const createExec = ({ clock, path }: Options): Exec => {
  const slots = createSlots(MAX_CHILDREN)
  const slotsOf = new Map<string, Slots>()
  const slotsFor = (command: string): Slots => {
    const own = slotsOf.get(command) ?? createSlots(MAX_OF_ONE)
    slotsOf.set(command, own)
    return own
  }
  const groups = new Set<number>()

  const start = (
    { command, args, grace = GRACE_MS }: Program,
    signal: AbortSignal,
    buffer: boolean,
  ) => {
    // A group of its own, so that what the child itself has started ends with it.
    const child = execa(command, args, {
      detached: true,
      cleanup: false,
      reject: false,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: { stdout: buffer, stderr: true },
      // Whether the last line was ended tells a parser whether a report was cut.
      stripFinalNewline: false,
      maxBuffer: { stdout: MAX_OUTPUT_BYTES, stderr: 64 * 1024 },
      extendEnv: false,
      // UTC and plain C messages: what is printed must not depend on the operator's locale.
      env: { PATH: path, HOME: '/', LANG: 'C.UTF-8', TZ: 'UTC', SYSTEMD_COLORS: '0' },
    })
    const { pid } = child
    if (pid !== undefined) {
      if (!process.listeners('exit').includes(killLiving)) process.on('exit', killLiving)
      living.add(pid)
      groups.add(pid)
    }
    const end = (): void => {
      if (pid === undefined || !groups.has(pid)) return
      killGroup(pid, 'SIGTERM')
      void clock.sleep(grace, finished.signal).then(() => {
        if (!finished.signal.aborted) killGroup(pid, 'SIGKILL')
      })
    }
    const finished = new AbortController()
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    const result = child.then((outcome) => {
      signal.removeEventListener('abort', end)
      finished.abort()
      // The leader is gone; whatever it left behind in its group goes too.
      if (pid !== undefined) {
        killGroup(pid, 'SIGKILL')
        groups.delete(pid)
        living.delete(pid)
      }
      return outcome
    })
    return { child, result }
  }

  return {
    run: (program, signal) =>
      slotsFor(program.command).use(signal, () =>
        slots.use(signal, async () => {
          const { result } = start(program, signal, true)
          const outcome = await result
          const { exitCode, isMaxBuffer } = outcome
          const isAnswer = exitCode !== undefined && (program.answers ?? [0]).includes(exitCode)
          // What is cut off may well end with an exit code of its own.
          if (exitCode === undefined || !isAnswer || isMaxBuffer) {
            throw failureOf(program, outcome, { path, most: MAX_OUTPUT_BYTES })
          }
          return { exitCode, stdout: textOf(outcome.stdout), stderr: textOf(outcome.stderr) }
        }),
      ),

    async *stream(program, signal) {
      const stop = new AbortController()
      const abort = (): void => {
        stop.abort()
      }
      signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted) abort()
      const { child, result } = start(program, stop.signal, false)
      try {
        for await (const chunk of child.stdout ?? []) yield chunk
        const outcome = await result
        const { exitCode } = outcome
        // With words, an end other than 0 is a failure, whatever it means without them.
        const isMute = exitCode === 0 || textOf(outcome.stderr).trim() === ''
        if (exitCode !== undefined && isMute && program.answers?.includes(exitCode)) return
        throw failureOf(program, outcome, { path, most: MAX_OUTPUT_BYTES })
      } finally {
        signal.removeEventListener('abort', abort)
        abort()
        await result
      }
    },

    killAll: () => {
      for (const pid of groups) killGroup(pid, 'SIGKILL')
    },
  }
}

const killGroup = (pid: number, signal: 'SIGTERM' | 'SIGKILL'): void => {
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended by itself in the meantime.
  }
}
