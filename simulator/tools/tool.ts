/**
 * The program behind every simulated tool: sends its name and arguments to the simulator and prints the response. It
 * contains no tool and imports no other file of this package, so that it starts quickly.
 */
import { connect } from 'node:net'
import { createInterface } from 'node:readline'

const [, , path = '', name = '', ...argv] = process.argv

const fail = (message: string): void => {
  process.stderr.write(`${message}\n`)
  process.exitCode = 1
}

const connectError = (): string =>
  name === 'systemctl' ? 'Failed to connect to bus: No such file or directory' : `${name}: no simulator at ${path}`

// The reader of standard output has closed the pipe.
process.stdout.on('error', () => socket.destroy())
// The socket, not its readline interface: a paused socket can end, and Node.js 24 resumes no closed interface.
process.stdout.on('drain', () => socket.resume())

const socket = connect(path)
socket.on('error', () => fail(connectError()))
socket.on('connect', () => {
  socket.write(`${JSON.stringify({ name, argv })}\n`)
  let ended = false
  const frames = createInterface({ input: socket })
  frames.on('line', (line) => {
    const frame: unknown = JSON.parse(line)
    if (!isFrame(frame)) return
    const { stdout, stderr, ignores, exit, signal } = frame
    if (ignores === 'SIGTERM') process.on('SIGTERM', () => undefined)
    if (typeof stdout === 'string' && !process.stdout.write(stdout)) socket.pause()
    if (typeof stderr === 'string') process.stderr.write(stderr)
    if (typeof exit === 'number') {
      ended = true
      process.exitCode = exit
    }
    if (signal === 'SIGABRT') process.kill(process.pid, signal)
  })
  frames.on('close', () => {
    if (!ended) fail(`${name}: the simulator is gone`)
  })
})

const isFrame = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
