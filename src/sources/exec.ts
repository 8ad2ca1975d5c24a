import { execa } from 'execa'
import type { Clock } from '../core/clock.ts'
import { SourceError } from '../core/errors.ts'
import { JOURNAL_ADVICE } from './journal-errors.ts'
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
  /** Exit codes that are answers; 0 alone without them. */
  readonly answers?: readonly number[]
}

/** Runs the tools of the node and of systemd: few at a time, each bounded in time and output. */
export interface Exec {
  /** The output of a program that ended with an answer; SourceError for every other end. */
  run(program: Program, signal: AbortSignal): Promise<Output>
  /** The standard output of a program that goes on, as it comes; a SourceError when the program ends. */
  stream(program: Program, signal: AbortSignal): AsyncGenerator<Uint8Array>
  /** Ends every child that is still there, at once. For the exit of the agent. */
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
    if (pid !== undefined) groups.add(pid)
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
            throw failureOf(program, outcome)
          }
          return { exitCode, stdout: text(outcome.stdout), stderr: text(outcome.stderr) }
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
        throw failureOf(program, await result)
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

interface Ended {
  readonly stderr?: unknown
  readonly exitCode?: number | undefined
  readonly signal?: string | undefined
  readonly isMaxBuffer: boolean
  readonly code?: string | undefined
}

const failureOf = ({ command, args }: Program, ended: Ended): SourceError => {
  const doing = `run ${command} ${args[0] ?? ''}`.trim()
  const evidence = lastWords(text(ended.stderr))
  if (ended.code === 'ENOENT') {
    return new SourceError({
      doing,
      happened: `there is no ${command} on PATH`,
      advice: `install it, or correct PATH in the agent's unit`,
    })
  }
  if (ended.code === 'EACCES') {
    return new SourceError({
      doing,
      happened: `this user may not run ${command}`,
      advice: `give the agent's user the right to run it`,
    })
  }
  if (ended.isMaxBuffer) {
    return new SourceError({ doing, happened: `it printed more than ${MAX_OUTPUT_BYTES} bytes` })
  }
  const happened =
    ended.signal === undefined ? `exit code ${ended.exitCode ?? '?'}` : `killed by ${ended.signal}`
  return new SourceError(
    { doing, happened, evidence, advice: adviceFor(evidence) },
    { output: text(ended.stderr) },
  )
}

const text = (output: unknown): string => (typeof output === 'string' ? output : '')

/** Tools say what went wrong at the end. */
const lastWords = (stderr: string): string => stderr.trim().split('\n').slice(-3).join('\n')

const adviceFor = (evidence: string): string | undefined => {
  if (/insufficient permissions|not seeing messages/i.test(evidence)) {
    return JOURNAL_ADVICE
  }
  if (/not been booted with systemd|Failed to connect to bus/i.test(evidence)) {
    return 'run the agent on the host itself, where systemd is process 1, and not in a container'
  }
  return undefined
}
