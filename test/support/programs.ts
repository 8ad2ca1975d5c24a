import { execa, type Options } from 'execa'
import { eventually } from './eventually.ts'

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, whatever that end is; throws only where it cannot be started or hangs. */
export const run = async (
  command: string,
  args: readonly string[],
  options: Pick<Options, 'cwd' | 'env' | 'extendEnv' | 'input' | 'timeout'> = {},
): Promise<Ended> => {
  const result = await execa(command, args, { timeout: 240_000, ...options, reject: false })
  if (result.exitCode === undefined) throw new Error(result.message)
  return { code: result.exitCode, stdout: String(result.stdout), stderr: String(result.stderr) }
}

/** The same, where anything but success is a failure of the test. */
export const must = async (...call: Parameters<typeof run>): Promise<string> => {
  const { code, stdout, stderr } = await run(...call)
  if (code === 0) return stdout
  const [command, args] = call
  throw new Error(`${command} ${args.join(' ')}\nended with ${code}\n${stdout}\n${stderr}`)
}

export interface Running {
  readonly pid: number
  /** All that it has written so far, to both. */
  output(): string
  /** Returns what `work` returns; if the program ends before, throws an error with its output. */
  during<T>(work: Promise<T>): Promise<T>
  stop(signal?: NodeJS.Signals): Promise<void>
}

/** Starts a program that runs until it is stopped. */
export const start = (
  command: string,
  args: readonly string[],
  options: Pick<Options, 'cwd' | 'env' | 'extendEnv'> = {},
): Running => {
  const child = execa(command, args, {
    ...options,
    reject: false,
    buffer: false,
    stdin: 'ignore',
    forceKillAfterDelay: 10_000,
  })
  const chunks: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => chunks.push(chunk))
  }
  if (child.pid === undefined) throw new Error(`${command} could not be started`)
  return {
    pid: child.pid,
    output: () => chunks.join(''),
    during: async (work) =>
      Promise.race([
        work,
        child.then(() => {
          throw new Error(`${command} ${args.join(' ')}\nhas ended:\n${chunks.join('')}`)
        }),
      ]),
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal)
      await child
    },
  }
}

/** Whether a process with this ID exists. */
export const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Starts an HTTP server and waits until `url` returns status 200. If it never does, throws an error with its output. */
export const startServer = async (url: string, ...call: Parameters<typeof start>): Promise<Running> => {
  const server = start(...call)
  try {
    await server.during(eventually(async () => (await fetch(url)).status, 200, { every: 20 }))
  } catch (error) {
    await server.stop()
    throw new Error(server.output(), { cause: error })
  }
  return server
}
