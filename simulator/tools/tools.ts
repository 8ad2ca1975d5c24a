import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import { z } from 'zod'
import { asError } from '../../src/core/errors.ts'
import { shellQuote } from '../../src/core/format.ts'
import { packageFile } from '../../src/core/package.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { SimulatedNode } from '../subject.ts'
import { directiveTable } from '../scenario/directives.ts'
import type { Effect } from '../scenario/timeline.ts'

/** A part of the behaviour of a tool. The last one is its exit status. */
export type Frame =
  | { readonly stdout: string }
  | { readonly stderr: string }
  | { readonly ignores: 'SIGTERM' }
  | { readonly exit: number }
  | { readonly signal: 'SIGABRT' }

/** A command as a function. A command that follows something runs until the signal aborts. */
export type Tool = (argv: readonly string[], signal: AbortSignal) => Iterable<Frame> | AsyncIterable<Frame>

interface ToolServerOptions {
  readonly directory: string
  readonly tools: Readonly<Record<string, Tool>>
}

/** Writes the commands to `directory/bin`; each call is handled here, over a socket. */
export const serveTools = async ({ directory, tools }: ToolServerOptions) => {
  const binDirectory = join(directory, 'bin')
  const path = join(directory, 'tools.sock')
  await mkdir(binDirectory, { recursive: true })
  await rm(path, { force: true })
  for (const name of Object.keys(tools)) {
    const words = [process.execPath, packageFile('dist/tool.js'), path, name].map(shellQuote).join(' ')
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
    /** To be added to PATH. */
    binDirectory,
    close: async (): Promise<void> => {
      const closed = once(server, 'close')
      server.close()
      for (const socket of callers) socket.destroy()
      await closed
    },
  }
}

const converse = async (socket: Socket, tools: ToolServerOptions['tools']): Promise<void> => {
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
    const { name, argv } = CALL.parse(JSON.parse(line))
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

const CALL = z.object({ name: z.string(), argv: z.array(z.string()) })

/** What one of the node's own tools does when it is called. */
export type ToolState = 'answers' | 'hangs' | 'aborts'

const setTool =
  (name: 'mpt' | 'status', state: ToolState): Effect =>
  (condition) => ({ ...condition, tools: { ...condition.tools, [name]: state } })

const HANGS = 'the tool does not end and ignores SIGTERM'
const ANSWERS = 'the tool works again; calls that still hang end'

export const toolFaultDirectives = directiveTable({
  'status hangs': [HANGS, setTool('status', 'hangs')],
  'status answers': [ANSWERS, setTool('status', 'answers')],
  'mpt hangs': [HANGS, setTool('mpt', 'hangs')],
  'mpt answers': [ANSWERS, setTool('mpt', 'answers')],
  'mpt aborts': ['the tool writes a backtrace with an assertion and is killed by SIGABRT', setTool('mpt', 'aborts')],
})

const POLL_MS = 100

/** A tool of the node that hangs or aborts when the scenario requires it. */
export const withFaults = (
  { node, clock, name }: { readonly node: SimulatedNode; readonly clock: Clock; readonly name: 'mpt' | 'status' },
  tool: Tool,
): Tool =>
  async function* (argv, signal) {
    const isState = (state: string): boolean => node.condition().tools[name] === state
    const hangs = isState('hangs')
    const aborts = name === 'mpt' && (hangs || isState('aborts'))
    if (hangs) yield { ignores: 'SIGTERM' }
    // The storage tool hangs in the backtrace of an abort, where its output says that it may.
    if (aborts) yield { stderr: BACKTRACE }
    else if (hangs) yield { stderr: 'waiting for the control panel\n' }
    while (isState('hangs') && !signal.aborted) await clock.sleep(POLL_MS, signal)
    if (!aborts) yield* tool(argv, signal)
    else yield* [{ stderr: assertion(node.prefix) }, { signal: 'SIGABRT' }] satisfies Frame[]
  }

const ADDRESSES = ['0x5581b3e0c4d1', '0x5581b3dfa2e8', '0x5581b3df7c40'] as const

/** The lines of a backtrace without names, which journald keeps. */
export const BACKTRACE_LINES: readonly string[] = [
  ...ADDRESSES.map((address) => `      ${address}`),
  '   Attempting async signal unsafe human readable stacktrace (this may hang):',
]

const BACKTRACE = `\n${BACKTRACE_LINES.slice(0, -1).join('\n')}\n\n${BACKTRACE_LINES.at(-1)}\n`

/** The backtrace with names, then the assertion and its message. */
const assertion = (prefix: string): string => {
  const place = `/usr/src/${prefix}-execution/category/mpt/db_metadata_context.cpp:318`
  const context = `${prefix}::mpt::DbMetadataContext::DbMetadataContext`
  return [
    `      ${ADDRESSES[0]}: ${prefix}_assertion_failed`,
    `      ${ADDRESSES[1]}: ${context}(${prefix}::async::AsyncIO&)`,
    `                      [${place}]`,
    `      ${ADDRESSES[2]}: main`,
    `${prefix}-mpt: ${place}: ${context}(${prefix}::async::AsyncIO &): Assertion '!is_dirty || can_write' failed.`,
    'DB metadata was closed dirty, but not opened for healing',
    '',
  ].join('\n')
}

/** The arguments of a tool. */
export interface ParsedArguments {
  /** Every value of an option, in order; an empty string if it has none. */
  readonly options: ReadonlyMap<string, readonly string[]>
  readonly operands: readonly string[]
}

type Grammar = NonNullable<ParseArgsConfig['options']>

/** The options of a tool: `f,follow` is a flag, `o,output=` has a value. */
export const createGrammar = (options: string): Grammar =>
  Object.fromEntries(
    options.split(/\s+/).map((option) => {
      const [, short, name = '', sign] = /^(?:(\w),)?([\w-]+)(=?)$/.exec(option) ?? []
      const type = sign === '=' ? 'string' : 'boolean'
      return [name, { type, multiple: true, ...(short !== undefined && { short }) }]
    }),
  )

/** Parses arguments, or returns an error message. Not strict: a value may begin with a dash, as in `--since -10m`. */
export const parseArguments = (grammar: Grammar, argv: readonly string[]): ParsedArguments | string => {
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: grammar,
    allowPositionals: true,
    strict: false,
  })
  const unknown = Object.keys(values).find((name) => !Object.hasOwn(grammar, name))
  if (unknown !== undefined) return `unrecognized option '${unknown}'`
  const given = Object.entries(values).map(
    ([name, all]) => [name, [all ?? []].flat().map((value) => (value === true ? '' : String(value)))] as const,
  )
  return { options: new Map(given), operands: positionals }
}
