import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { asError } from '../../core/errors.ts'
import { shellQuote } from '../../core/format.ts'

/** A part of the behaviour of a tool. The last one is its exit status. */
export type Frame =
  | { readonly stdout: string }
  | { readonly stderr: string }
  | { readonly ignores: 'SIGTERM' }
  | { readonly exit: number }
  | { readonly signal: 'SIGABRT' }

/** A command as a function. A command that follows something runs until the signal aborts. */
export type Tool = (argv: readonly string[], signal: AbortSignal) => Iterable<Frame> | AsyncIterable<Frame>

interface Options {
  readonly directory: string
  readonly tools: Readonly<Record<string, Tool>>
  /** The compiled `tool.js`; by default that of the build. */
  readonly client?: string | undefined
}

interface Tools {
  /** To be added to PATH. */
  readonly binDirectory: string
  close(): Promise<void>
}

/** Writes the commands to `directory/bin`; each call is handled here, over a socket. */
export const serveTools = async ({ directory, tools, client = built }: Options): Promise<Tools> => {
  const binDirectory = join(directory, 'bin')
  const path = join(directory, 'tools.sock')
  await mkdir(binDirectory, { recursive: true })
  await rm(path, { force: true })
  for (const name of Object.keys(tools)) {
    const words = [process.execPath, client, path, name].map(shellQuote).join(' ')
    // Without a limit, a tool that aborts would write a core file.
    await writeFile(join(binDirectory, name), `#!/bin/sh\nulimit -c 0\nexec ${words} "$@"\n`)
    await chmod(join(binDirectory, name), 0o755)
  }
  const callers = new Set<Socket>()
  const server = createServer((socket) => {
    callers.add(socket)
    socket.on('close', () => callers.delete(socket))
    socket.on('error', () => socket.destroy())
    converse(socket, tools).catch(() => socket.destroy())
  })
  server.listen(path)
  await once(server, 'listening')
  return {
    binDirectory,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of callers) socket.destroy()
      await closed
    },
  }
}

/** The same path from the sources and from the build. */
const built = fileURLToPath(new URL('../../../dist/simulator/tools/tool.js', import.meta.url))

const converse = async (socket: Socket, tools: Options['tools']): Promise<void> => {
  const gone = new AbortController()
  socket.on('close', () => gone.abort())
  const send = async (frame: Frame): Promise<void> => {
    if (socket.write(`${JSON.stringify(frame)}\n`)) return
    await once(socket, 'drain', { signal: gone.signal })
  }
  const lines = createInterface({ input: socket })
  // readline emits the socket's error again and throws it without a listener, as when the caller is killed.
  lines.on('error', () => socket.destroy())
  for await (const line of lines) {
    const { name, argv } = readCall(line)
    try {
      for await (const frame of tools[name]?.(argv, gone.signal) ?? [{ exit: 127 }]) await send(frame)
    } catch (error) {
      await send({ stderr: `${name}: ${asError(error).message}\n` })
      await send({ exit: 1 })
    }
    break
  }
  socket.end()
}

interface Call {
  readonly name: string
  readonly argv: readonly string[]
}

const readCall = (line: string): Call => {
  const call: unknown = JSON.parse(line)
  if (!isCall(call)) throw new TypeError('expected {name, argv}')
  return call
}

const isCall = (value: unknown): value is Call =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  typeof value.name === 'string' &&
  'argv' in value &&
  Array.isArray(value.argv) &&
  value.argv.every((word) => typeof word === 'string')
