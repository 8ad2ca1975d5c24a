#!/usr/bin/env node
import { runCli } from './cli/program.ts'
import { printable, READER_GONE } from './terminal/io.ts'
import { systemClock } from './core/clock.ts'
import { errorText } from './core/errors.ts'
import { mayHang } from './core/files.ts'
import { second } from './core/units.ts'

/** The default configuration file. Every command without another file reads it. */
const INSTALLED_CONFIG = '/etc/chain-agent/config.yaml'

/**
 * Ends the process. process.exit() waits for the threads of Node.js, and one in an operation on a file system that hangs
 * does not end: the default action of SIGTERM ends the process without them.
 */
const exit = (code: number): void => {
  if (!mayHang()) process.exit(code)
  process.removeAllListeners('SIGTERM')
  process.kill(process.pid, 'SIGTERM')
}

const stopping = new AbortController()
let askedAt = Infinity
const stop = (): void => {
  // A second request ends the process at once. Signals within a second are one request: a terminal and npm both pass on
  // one Ctrl-C, and timeout(1) signals its child and then the child's group.
  if (systemClock.elapsed() - askedAt > second) exit(130)
  askedAt = Math.min(askedAt, systemClock.elapsed())
  stopping.abort()
  // A command that reads it waits for its end.
  process.stdin.destroy()
}
process.on('SIGINT', stop)
process.on('SIGTERM', stop)
// Closing a terminal sends SIGHUP to its commands. A service manager sends it to reload a configuration.
let hangup = stop
process.on('SIGHUP', () => {
  hangup()
})

let isOutputLost = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe has ended (`… | head`): the command stops cleanly.
  if (error.code === 'EPIPE') stopping.abort(READER_GONE)
  else if (!isOutputLost) {
    isOutputLost = true
    process.stderr.write(`Could not write the output: ${error.message}\n`)
  }
})

// Ignore write errors after the terminal has closed.
process.stderr.on('error', () => undefined)

process.on('uncaughtException', (error) => {
  process.stderr.write(printable(`${errorText(error)}\n`))
  exit(1)
})

const code = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  installedConfig: INSTALLED_CONFIG,
  clock: systemClock,
  signal: stopping.signal,
  onHangup: (listener) => {
    hangup = listener
  },
  onWarning: (listener) => {
    // Replaces the listener of Node.js that prints it. With --no-warnings there is none.
    for (const print of process.listeners('warning')) process.off('warning', print).on('warning', listener)
  },
})
// A write error of the last line, as on a full disk, is reported in the next turn of the event loop.
await new Promise((resolve) => {
  process.stdout.write('', resolve)
})
exit(code === 0 && isOutputLost ? 1 : code)
