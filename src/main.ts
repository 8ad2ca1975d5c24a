#!/usr/bin/env node
import { runCli } from './cli/index.ts'
import { READER_GONE } from './cli/io.ts'
import { environment } from './config/index.ts'
import { systemClock } from './core/clock.ts'
import { second } from './core/units.ts'

const stopping = new AbortController()
let askedAt = Infinity
// A terminal that is closed sends SIGHUP.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Whoever asks again means it. At the same moment it is one wish: a terminal and npm both pass on
    // one Ctrl-C, and timeout(1) signals its child and then the child's group.
    if (systemClock.elapsed() - askedAt > second) process.exit(130)
    askedAt = Math.min(askedAt, systemClock.elapsed())
    stopping.abort()
  })
}

let isOutputLost = false
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // A reader that has gone away (`… | head`) has had enough: we end in good order.
  if (error.code === 'EPIPE') stopping.abort(READER_GONE)
  else if (!isOutputLost) {
    isOutputLost = true
    process.stderr.write(`Could not write the output: ${error.message}\n`)
  }
})

// Of a terminal that was closed nothing can be said any more, and to nobody.
process.stderr.on('error', () => undefined)

const code = await runCli(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: environment,
  clock: systemClock,
  signal: stopping.signal,
})
// What a full disk has to say of the last line comes a turn later.
await new Promise((resolve) => {
  process.stdout.write('', resolve)
})
process.exit(code === 0 && isOutputLost ? 1 : code)
