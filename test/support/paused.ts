import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:fs'
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { eventually } from './eventually.ts'
import { must } from './programs.ts'

export interface Ended {
  /** Undefined where a signal ended it. */
  readonly code: number | undefined
  readonly signal: string | undefined
  readonly stdout: string
  readonly stderr: string
}

/** A command that waits for its configuration: all of its code is loaded, and nothing is done yet. */
export interface Paused {
  readonly pid: number
  /** The thread that JavaScript runs in, and the only one that libuv gives calls of the file system. */
  readonly threads: { readonly main: number; readonly pool: number }
  /** Hands it the configuration, and waits for its end. */
  proceed(): Promise<Ended>
}

interface Options {
  readonly argv: readonly string[]
  readonly config: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string>>
}

/** Node.js 24 loads modules without the thread pool: it has a thread from the first asynchronous call on. */
const START_POOL = ['--import', 'data:text/javascript,import { stat } from "node:fs/promises"; await stat("/")']
/** libuv has named its threads since Node.js 24. */
const POOL = 'libuv-worker\n'

/**
 * Starts a command whose configuration is a pipe. Where the calls of the file system are counted from there on, the
 * hundreds that Node needs for its modules are not among them.
 */
export const startPaused = async ({ argv, config, env }: Options): Promise<Paused> => {
  const folder = await mkdtemp(join(tmpdir(), 'chain-agent-paused-'))
  const pipe = join(folder, 'config')
  await must('mkfifo', [pipe])
  // With a reader, the writer can be opened; with a writer, the command waits for what it writes.
  const reader = await open(pipe, constants.O_RDONLY | constants.O_NONBLOCK)
  const writer = await open(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
  const child = spawn(process.execPath, [...START_POOL, ...argv, '--config', '/dev/stdin'], {
    env: { ...env, UV_THREADPOOL_SIZE: '1' },
    stdio: [reader.fd, 'pipe', 'pipe'],
    timeout: 240_000,
  })
  const ended = once(child, 'close')
  const output = Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (stream ? (await text(stream)).replace(/\n$/, '') : '')),
  )
  const { pid } = child
  if (pid === undefined) throw new Error('the command could not be started')
  await eventually(
    async () => readFile(`/proc/${pid}/wchan`, 'utf8'),
    (where) => where.includes('pipe_read'),
    { every: 10 },
  )
  await reader.close()
  // The kernel lists threads in the order in which they were created; by number, a later one may come first.
  const threads = (await readdir(`/proc/${pid}/task`)).map(Number)
  const names = await Promise.all(threads.map(async (id) => readFile(`/proc/${pid}/task/${id}/comm`, 'utf8')))
  return {
    pid,
    threads: { main: pid, pool: threads[names.indexOf(POOL)] ?? threads.at(-1) ?? pid },
    proceed: async () => {
      await writer.write(JSON.stringify(config))
      await writer.close()
      const [[stdout = '', stderr = '']] = await Promise.all([output, ended])
      await rm(folder, { recursive: true })
      return { code: child.exitCode ?? undefined, signal: child.signalCode ?? undefined, stdout, stderr }
    },
  }
}
