import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Clock, endsWithin } from '../../../src/core/clock.ts'
import { packageFile } from '../../../src/core/package.ts'

export interface Child {
  readonly process: ChildProcess
  /** Resolves when the process has exited; never rejects. */
  readonly ended: Promise<void>
  hasEnded(): boolean
  /** Terminates the process, and kills it after 10 s. */
  stop(): Promise<void>
}

interface StartOptions {
  readonly args: readonly string[]
  /** The complete environment of the process. */
  readonly env: Readonly<Record<string, string>>
  /** File descriptor for its output, except for a piped standard output. */
  readonly log: number
  readonly stdout: 'pipe' | 'log'
  readonly clock: Clock
}

const GRACE_MS = 10_000
export const program = packageFile('dist/main.js')

/** Starts this program again as a child process. */
export const startChild = ({ args, env, log, stdout, clock }: StartOptions): Child => {
  const child = spawn(process.execPath, [program, ...args], {
    env: { TZ: 'UTC', LANG: 'C.UTF-8', ...env },
    // A process group of its own: Ctrl-C reaches only the parent, which stops the agent before the node.
    detached: true,
    stdio: ['ignore', stdout === 'pipe' ? 'pipe' : log, log],
  })
  return supervise(child, 'SIGTERM', clock)
}

interface ShellOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly clock: Clock
}

/** Starts a shell on the terminal of this process. */
export const startShell = ({ command, args, env, clock }: ShellOptions): Child =>
  // An interactive shell ignores SIGTERM.
  supervise(spawn(command, args, { env, stdio: 'inherit' }), 'SIGHUP', clock)

const supervise = (child: ChildProcess, stopSignal: NodeJS.Signals, clock: Clock): Child => {
  let hasExited = false
  const ended = once(child, 'exit')
    .catch(() => undefined)
    .then(() => {
      hasExited = true
    })
  // If this process must exit immediately, it at least signals its children.
  const killOnExit = (): void => {
    child.kill(stopSignal)
  }
  process.once('exit', killOnExit)
  void ended.then(() => process.removeListener('exit', killOnExit))
  return {
    process: child,
    ended,
    hasEnded: () => hasExited,
    stop: async () => {
      if (hasExited) return
      child.kill(stopSignal)
      if (!(await endsWithin(clock, GRACE_MS, ended))) child.kill('SIGKILL')
      await ended
    },
  }
}
