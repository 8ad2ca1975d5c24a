import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../core/clock.ts'

export interface Child {
  readonly process: ChildProcess
  /** Resolves, and never rejects, when it has ended. */
  readonly ended: Promise<void>
  hasEnded(): boolean
  /** Asks it to end, and insists where it does not. */
  stop(): Promise<void>
}

interface StartOptions {
  readonly args: readonly string[]
  /** What it finds in its environment, and nothing else. */
  readonly env: Readonly<Record<string, string>>
  /** A file that takes what it prints, other than a piped standard output. */
  readonly log: number
  readonly stdout: 'pipe' | 'log'
  readonly clock: Clock
}

const GRACE_MS = 10_000
export const program = fileURLToPath(new URL('../../main.js', import.meta.url))

/** Starts this very program a second time, as a process of its own. */
export const startChild = ({ args, env, log, stdout, clock }: StartOptions): Child => {
  const child = spawn(process.execPath, [program, ...args], {
    env: { TZ: 'UTC', LANG: 'C.UTF-8', ...env },
    // A group of its own: Ctrl-C reaches us alone, and we end the agent before the node.
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

/** Starts a shell on our own terminal. */
export const startShell = ({ command, args, env, clock }: ShellOptions): Child =>
  // An interactive shell ignores SIGTERM.
  supervise(spawn(command, args, { env, stdio: 'inherit' }), 'SIGHUP', clock)

const supervise = (child: ChildProcess, stopSignal: NodeJS.Signals, clock: Clock): Child => {
  let over = false
  const ended = once(child, 'exit')
    .catch(() => undefined)
    .then(() => {
      over = true
    })
  // Where this process must end at once, its children are asked to end at least.
  const endToo = (): void => {
    child.kill(stopSignal)
  }
  process.once('exit', endToo)
  void ended.then(() => process.removeListener('exit', endToo))
  return {
    process: child,
    ended,
    hasEnded: () => over,
    stop: async () => {
      if (over) return
      const patience = new AbortController()
      child.kill(stopSignal)
      await Promise.race([ended, clock.sleep(GRACE_MS, patience.signal)])
      patience.abort()
      if (!over) child.kill('SIGKILL')
      await ended
    },
  }
}
