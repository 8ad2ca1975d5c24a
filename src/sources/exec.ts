import { type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import pLimit, { type LimitFunction } from 'p-limit'
import { type Clock, type Context, linkAbort, withDeadline } from '../core/clock.ts'
import { asError, errorCode, SourceError, startLimit } from '../core/errors.ts'
import { LIMITS } from '../core/limits.ts'
import { renderDuration } from '../core/units.ts'

export interface Output {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

/** A program to run. The first argument is shown in errors. */
export interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** Time between SIGTERM and SIGKILL, in milliseconds. */
  readonly grace?: number
  /** Exit codes that count as success. Default: 0; for a stream none. */
  readonly answers?: readonly number[]
  /**
   * For a stream of small pieces: the wait after each of them, in milliseconds, in which more is gathered. There is none
   * while the program writes much.
   */
  readonly gatherMs?: number
}

export type Exec = ReturnType<typeof createExec>

interface ExecOptions {
  readonly clock: Clock
  /** The search path for programs. Children inherit nothing else of the environment. */
  readonly path: string
  readonly variables?: Readonly<Record<string, string>>
}

/** What a pipe holds, in bytes: a program that writes less in the time of a wait is not slowed down by it. */
const PIPE_BYTES = 64 * 1024

/** The children of this process. Each has its own process group, so none ends automatically with this process. */
const living = new Set<number>()
const killLiving = (): void => {
  for (const pid of living) killGroup(pid, 'SIGKILL')
}

/** Runs the tools of the node and of systemd, with limits on concurrency, time and output. */
export const createExec = ({ clock, path, variables }: ExecOptions) => {
  const slots = pLimit(LIMITS.tool.concurrent)
  const slotsOf = new Map<string, LimitFunction>()
  const slotsFor = (command: string): LimitFunction => {
    const own = slotsOf.get(command) ?? pLimit(LIMITS.tool.concurrentPerProgram)
    slotsOf.set(command, own)
    return own
  }
  const groups = new Set<number>()

  const start = ({ command, args, grace = LIMITS.tool.graceMs }: Program, signal: AbortSignal, buffer: boolean) => {
    // Its own process group, so that the child's own children end with it.
    const child = execa(command, args, {
      detached: true,
      cleanup: false,
      reject: false,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      buffer: { stdout: buffer, stderr: true },
      // A parser uses the final line break to detect a truncated report.
      stripFinalNewline: false,
      maxBuffer: { stdout: LIMITS.tool.outputBytes, stderr: LIMITS.tool.errorBytes },
      extendEnv: false,
      // UTC and untranslated messages: the output must not depend on the operator's locale.
      env: { PATH: path, HOME: '/', LANG: 'C.UTF-8', TZ: 'UTC', SYSTEMD_COLORS: '0', ...variables },
    })
    const { pid } = child
    if (pid === undefined) return child
    if (!process.listeners('exit').includes(killLiving)) process.on('exit', killLiving)
    living.add(pid)
    groups.add(pid)
    const finished = new AbortController()
    const end = (): void => {
      if (groups.has(pid)) killGroup(pid, 'SIGTERM')
      void clock.sleep(grace, finished.signal).then(() => {
        if (finished.signal.aborted) return
        if (groups.has(pid)) killGroup(pid, 'SIGKILL')
        // A process outside the group, such as a daemon that it started, may keep the output open.
        child.stdout?.destroy()
        child.stderr?.destroy()
      })
    }
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
    child.once('exit', () => {
      // The group leader has ended; kill the rest of its group. At once: from now on its ID may be given to another group.
      killGroup(pid, 'SIGKILL')
      groups.delete(pid)
      living.delete(pid)
    })
    void child.then(() => {
      signal.removeEventListener('abort', end)
      finished.abort()
    })
    return child
  }

  return {
    /** Runs a program and returns its output. Throws a SourceError unless it exits with one of `answers`. */
    run: (program: Program, signal: AbortSignal): Promise<Output> =>
      whenFree(slotsFor(program.command), signal, () =>
        whenFree(slots, signal, async () => {
          failIfMissing(program, path)
          const outcome = await start(program, signal, true)
          const { exitCode, isMaxBuffer } = outcome
          const isAnswer = exitCode !== undefined && (program.answers ?? [0]).includes(exitCode)
          // A program that was cut off may still exit with a code.
          if (exitCode === undefined || !isAnswer || isMaxBuffer) {
            throw failureOf(program, outcome, path)
          }
          return { exitCode, stdout: textOf(outcome.stdout), stderr: textOf(outcome.stderr) }
        }),
      ),

    /**
     * Yields the standard output of a program. Throws a SourceError when the program ends, unless `answers` lists its
     * exit code; for a program that should run forever, leave `answers` empty.
     */
    async *stream(program: Program, signal: AbortSignal): AsyncGenerator<Uint8Array> {
      failIfMissing(program, path)
      const linked = linkAbort(signal)
      const child = start(program, linked.signal, false)
      const output: AsyncIterable<Buffer> | Buffer[] = child.stdout ?? []
      const isMuch = createPace(clock, program.gatherMs ?? 0)
      try {
        for await (const chunk of output) {
          yield chunk
          if (program.gatherMs !== undefined && !isMuch(chunk.length))
            await clock.sleep(program.gatherMs, linked.signal)
        }
        const outcome = await child
        const { exitCode } = outcome
        // With text on standard error, an exit code other than 0 is a failure.
        const hasNoError = exitCode === 0 || textOf(outcome.stderr).trim() === ''
        if (exitCode !== undefined && hasNoError && program.answers?.includes(exitCode)) return
        throw failureOf(program, outcome, path)
      } finally {
        linked.abort()
        await child
      }
    },

    /** Kills all running children at once. The same happens when this process ends. */
    killAll: (): void => {
      for (const pid of groups) killGroup(pid, 'SIGKILL')
    },
  }
}

/**
 * Whether a program writes much, now or in the time before: a wait would slow it down then, as a pipe holds little of what
 * it writes, and a reader that does not wait sees small pieces.
 */
const createPace = (clock: Clock, span: number) => {
  let since = clock.elapsed()
  let bytes = 0
  let wasMuch = false
  return (more: number): boolean => {
    const now = clock.elapsed()
    if (now - since >= span) {
      wasMuch = bytes >= PIPE_BYTES
      bytes = 0
      since = now
    }
    bytes += more
    return wasMuch || bytes >= PIPE_BYTES
  }
}

/** Waits for a free slot, then runs. Throws a SourceError if `signal` aborts while waiting. */
const whenFree = <T>(slots: LimitFunction, signal: AbortSignal, run: () => Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    let hasLeft = false
    const leave = (): void => {
      hasLeft = true
      const happened = `${slots.concurrency} tools are still running`
      reject(new SourceError({ doing: 'run another tool', happened }, { timeout: true }))
    }
    signal.addEventListener('abort', leave, { once: true })
    void slots(async () => {
      signal.removeEventListener('abort', leave)
      if (!hasLeft) await run().then(resolve, reject)
    })
  })

const killGroup = (pid: number, signal: 'SIGTERM' | 'SIGKILL'): void => {
  try {
    process.kill(-pid, signal)
  } catch {
    // The process has already ended.
  }
}

interface ProgramEnd {
  readonly stderr?: unknown
  readonly exitCode?: number | undefined
  readonly signal?: string | undefined
  readonly isMaxBuffer: boolean
  readonly code?: string | undefined
}

/** The error for a program without a valid result. `path` is the search path for programs. */
const failureOf = ({ command, args }: Program, ended: ProgramEnd, path: string): SourceError => {
  const doing = `run ${command} ${args[0] ?? ''}`.trim()
  const evidence = lastLines(textOf(ended.stderr))
  if (ended.code === 'ENOENT') {
    const advice = `install it, or correct PATH in the agent's unit`
    return new SourceError({ doing, happened: `there is no ${command} on PATH`, advice }, { code: 'no program' })
  }
  if (ended.code === 'EACCES') {
    const unsearchable = unsearchableIn(path)
    if (unsearchable.length > 0 && !command.includes('/') && !isOnPath(command, path)) {
      return new SourceError({
        doing,
        happened: `${command} was not found on PATH; these directories cannot be searched by this user: ${unsearchable.join(', ')}`,
        advice: `run the command as a user who can search them (sudo), or install ${command} in /usr/local/bin`,
      })
    }
    const advice = `give the agent's user the right to run it`
    return new SourceError(
      { doing, happened: `this user may not run ${command}`, advice },
      { code: 'program not permitted' },
    )
  }
  const limit = ended.exitCode === undefined ? startLimit(ended.code ?? '') : undefined
  if (limit) return new SourceError({ doing, ...limit })
  if (ended.isMaxBuffer) {
    const happened = `it printed more than ${LIMITS.tool.outputBytes} bytes`
    return new SourceError({ doing, happened }, { code: 'output limit' })
  }
  const happened = ended.signal === undefined ? `exit code ${ended.exitCode ?? '?'}` : `killed by ${ended.signal}`
  const isKilled = ended.signal !== undefined
  const code = isNotPermitted(evidence) ? 'journal not permitted' : isKilled ? 'killed' : undefined
  const output = textOf(ended.stderr)
  return new SourceError({ doing, happened, evidence, advice: adviceFor(evidence) }, { code, output })
}

/** A fork of this process takes milliseconds: there is none for a program that no directory of the search path has. */
const failIfMissing = (program: Program, path: string): void => {
  const { command } = program
  if (command.includes('/')) return
  // One that cannot be searched: the start fails with the reason.
  if (path.split(':').every((directory) => look(join(directory, command)) === undefined))
    throw failureOf(program, { code: 'ENOENT', isMaxBuffer: false }, path)
}

/** Undefined if it does not exist; the code of another error. */
const look = (path: string): Stats | string | undefined => {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    return errorCode(error)
  }
}

/** The system reports EACCES for the whole search when one directory of it cannot be searched. */
const unsearchableIn = (path: string): readonly string[] =>
  path.split(':').filter((directory) => look(`${directory}/.`) === 'EACCES')

/** Whether a directory that can be searched has the program, executable or not. */
const isOnPath = (command: string, path: string): boolean =>
  path.split(':').some((directory) => {
    const found = look(join(directory, command))
    return typeof found === 'object' && found.isFile()
  })

const textOf = (output: unknown): string => (typeof output === 'string' ? output : '')

/** The last lines of standard error usually contain the reason. */
export const lastLines = (stderr: string): string => stderr.trim().split('\n').slice(-3).join('\n')

/** Whether journalctl reports that this user may not read the journal. */
export const isNotPermitted = (stderr: string): boolean => /not seeing messages|insufficient permissions/i.test(stderr)

/** Group membership takes effect at the next start or login: of the agent, or of a user who tries it manually. */
export const JOURNAL_ADVICE =
  'add the user to the group systemd-journal (`usermod -aG systemd-journal USER`, as root), and restart the agent ' +
  'or log in again: an open session does not get the group'

const adviceFor = (evidence: string): string | undefined => {
  if (isNotPermitted(evidence)) return JOURNAL_ADVICE
  if (/not been booted with systemd|Failed to connect to bus/i.test(evidence)) {
    return 'run the agent on the host itself, where systemd is process 1, and not in a container'
  }
  return undefined
}

/**
 * An Exec with time limits for interactive commands: a program that hangs fails after a while. Programs run with
 * --follow have no limit, and the time that the reader takes does not count.
 */
export const createExecWithTimeouts = (exec: Exec, clock: Clock): Exec => {
  const limited =
    ({ command }: Program, limit: number, signal: AbortSignal) =>
    <T>(wait: (within: Context) => Promise<T>): Promise<T> =>
      withDeadline({ clock, signal }, limit, wait).catch((error: unknown) => {
        if (!(error instanceof SourceError) || !error.timeout) throw error
        const happened = `there was no output for ${renderDuration(limit)}`
        const advice = `check that \`${command}\` works, or request a shorter time range`
        throw new SourceError({ doing: `run ${command}`, happened, advice }, { timeout: true, cause: error })
      })
  return {
    run: (program, signal) => limited(program, LIMITS.tool.runMs, signal)((within) => exec.run(program, within.signal)),
    async *stream(program, signal) {
      const { args } = program
      if (args.includes('--follow')) {
        yield* exec.stream(program, signal)
        return
      }
      const linked = linkAbort(signal)
      const isSearch = args.some((word) => word.startsWith('--grep='))
      const inTime = limited(program, isSearch ? LIMITS.tool.searchMs : LIMITS.tool.idleMs, linked.signal)
      const stream = exec.stream(program, linked.signal)
      // A program that ignores signals is not waited for.
      let mustWait = true
      try {
        for (;;) {
          mustWait = false
          const next = await inTime(() => stream.next())
          mustWait = true
          if (next.done === true) return
          yield next.value
        }
      } finally {
        linked.abort()
        if (mustWait) await stream.return(undefined)
      }
    },
    killAll: exec.killAll,
  }
}

/** What a tool printed last, or why it failed. Not redacted. */
export interface LastOutput {
  readonly command: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly output: string
}

const MAX_TOOLS = 16
const MAX_LENGTH = 32 * 1024
/** Their output is read as the journals, and as the states of services and packages. */
const LEFT_OUT = ['journalctl', 'systemctl', 'dpkg-query', 'apt-cache']

/** An Exec that keeps the last output of each tool. */
export const keepLastOutputs = (exec: Exec, clock: Clock) => {
  const outputs = new Map<string, LastOutput>()
  const keep = (name: string, output: string): void => {
    const command = name.slice(name.lastIndexOf('/') + 1)
    if (LEFT_OUT.includes(command) || (!outputs.has(command) && outputs.size >= MAX_TOOLS)) return
    outputs.set(command, { command, at: clock.now(), output: output.slice(0, MAX_LENGTH) })
  }
  const kept: Exec = {
    ...exec,
    run: async (program, signal) => {
      try {
        const output = await exec.run(program, signal)
        // What a version prints is no state.
        if (!program.args.includes('--version')) keep(program.command, output.stdout)
        return output
      } catch (error) {
        keep(program.command, asError(error).message)
        throw error
      }
    },
  }
  return { exec: kept, outputs: (): readonly LastOutput[] => [...outputs.values()] }
}
