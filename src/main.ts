#!/usr/bin/env node
import { runCli } from './cli/index.ts'
import { environment } from './config/index.ts'
import { systemClock } from './core/clock.ts'

const stopping = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // Whoever asks twice means it.
    if (stopping.signal.aborted) process.exit(130)
    stopping.abort()
  })
}
// A reader that has gone away (`… | head`) is no reason for a stack trace.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
})

const code = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: environment,
  clock: systemClock,
  signal: stopping.signal,
})
process.exit(code)
