import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { basename, delimiter, join } from 'node:path'
import { type Clock, endsWithin, linkAbort } from '../../../src/core/clock.ts'
import { shellQuote } from '../../../src/core/format.ts'
import { packageFile } from '../../../src/core/package.ts'
import type { Io } from '../../../src/terminal/io.ts'

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
const program = packageFile('dist/main.js')

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

/** Writes `chain-agent` next to the simulated tools: this program, run by the same Node.js. */
export const writeLauncher = async (binDirectory: string): Promise<void> => {
  const file = join(binDirectory, 'chain-agent')
  const command = [process.execPath, program].map(shellQuote).join(' ')
  await writeFile(file, `#!/bin/sh\nexec ${command} "$@"\n`)
  await chmod(file, 0o755)
}

interface DemoShellOptions {
  readonly directory: string
  readonly binDirectory: string
  /** The agent's configuration file. */
  readonly config: string
  /** Writes the demo's status lines until the signal aborts. */
  readonly watch: (io: Io) => Promise<void>
}

/**
 * Runs the user's shell with the demo on its PATH, until it exits or the demo is interrupted. Status lines go to a log
 * file meanwhile. Returns false if the shell could not be started.
 */
export const openDemoShell = async (io: Io, options: DemoShellOptions): Promise<boolean> => {
  const { directory, binDirectory, config, watch } = options
  const command = io.env['SHELL'] || 'sh'
  const file = join(directory, 'demo.log')
  const log = createWriteStream(file)
  // The directory is on a disk that may be full; the shell works without the log.
  log.on('error', () => undefined)
  io.stdout.write(`Status lines go to ${file}. Exit the shell to stop the demo.\n`)
  const env = {
    ...io.env,
    PATH: [binDirectory, io.env['PATH'] ?? ''].join(delimiter),
    CHAIN_AGENT_CONFIG: config,
    PS1: '(demo) $ ',
  }
  const args = await shellArguments({ command, directory, binDirectory, config })
  // An interactive shell ignores SIGTERM.
  const shell = supervise(spawn(command, args, { env, stdio: 'inherit' }), 'SIGHUP', io.clock)
  const linked = linkAbort(io.signal)
  const watching = watch({ ...io, stdout: log, signal: linked.signal })
  io.signal.addEventListener('abort', () => void shell.stop(), { once: true })
  await shell.ended
  linked.abort()
  await watching
  log.end()
  if (shell.process.pid !== undefined) return true
  io.stderr.write(`Could not start the shell ${command}.\n  hint: set SHELL to a shell that exists\n`)
  return false
}

/** bash sets its prompt, and often PATH, in its startup file; the file given with --rcfile sources that file first. */
const shellArguments = async (
  of: Omit<DemoShellOptions, 'watch'> & { readonly command: string },
): Promise<readonly string[]> => {
  if (basename(of.command) !== 'bash') return []
  const file = join(of.directory, 'bashrc')
  const lines = [
    'if [ -f ~/.bashrc ]; then . ~/.bashrc; fi',
    `export PATH=${shellQuote(of.binDirectory)}:$PATH`,
    `export CHAIN_AGENT_CONFIG=${shellQuote(of.config)}`,
    'PS1="(demo) $PS1"',
  ]
  await writeFile(file, `${lines.join('\n')}\n`)
  return ['--rcfile', file]
}
