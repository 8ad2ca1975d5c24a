import { addAbortSignal } from 'node:stream'
import { z } from 'zod'
import { fileError } from '../../core/errors.ts'
import { isObject, tryJson } from '../../core/json.ts'
import { LIMITS } from '../../core/limits.ts'
import { version } from '../../core/package.ts'
import { createLineSplitter, type Line } from '../../sources/streams.ts'
import { type ActionContext, type Io, writeAll } from '../../terminal/io.ts'
import { callTool, type RunCli, type ToolContext, TOOLS, UNTRUSTED } from './tools.ts'

/** Answers messages, one JSON value a line, until the input ends; the calls that run then are still answered. */
export const serveMcp =
  (runCli: RunCli) =>
  async ({ io, exit, options }: ActionContext<{ readonly config?: string }>): Promise<void> => {
    const running = new Set<Promise<unknown>>()
    for await (const line of linesOf(io)) {
      const answered = respond(line, { io, file: options.config, runCli })
        .then(async (response) => response && writeAll(io, `${JSON.stringify(response)}\n`))
        .finally(() => running.delete(answered))
      running.add(answered)
      // Until one of them ends, no more is read.
      if (running.size >= LIMITS.mcp.calls) await Promise.race(running)
    }
    await Promise.all(running)
    exit(0)
  }

/** The lines of standard input, until it ends or the command is interrupted. */
async function* linesOf({ stdin, signal }: Pick<Io, 'stdin' | 'signal'>): AsyncGenerator<Line> {
  const split = createLineSplitter(LIMITS.mcp.lineBytes)
  try {
    const input: AsyncIterable<Uint8Array> = addAbortSignal(signal, stdin)
    for await (const chunk of input) yield* split(chunk)
    // The last line may have no line break.
    yield* split(Buffer.from('\n'))
  } catch (error) {
    if (!signal.aborted) throw fileError(error, { doing: 'read standard input' })
  }
}

/** Revisions in which each request has its version, and those that begin with `initialize`; the newest first. */
const STATELESS = ['2026-07-28']
const WITH_HANDSHAKE = ['2025-11-25', '2025-06-18', '2024-11-05']
const VERSION = 'io.modelcontextprotocol/protocolVersion'

const SERVER = { name: 'chain-agent', version }
const ABOUT = {
  capabilities: { tools: {} },
  instructions: `Reads the state of the blockchain node of this host and changes nothing. Begin with diagnosis. Its advice, and the commands of a runbook, are for the operator to run. ${UNTRUSTED}`,
}
/** The tools change with the program only. */
const CACHING = { ttlMs: 3_600_000, cacheScope: 'public' }

const requestSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string(),
  params: z.looseObject({ _meta: z.looseObject({ [VERSION]: z.string().optional() }).optional() }).default({}),
})
type Request = z.output<typeof requestSchema>

/** The codes are those of JSON-RPC 2.0 and MCP. */
const fault = (code: number, message: string, data?: unknown) => ({ error: { code, message, data } })

/** The response to a line; null for a notification, a response and an empty line, which have none. */
const respond = async (line: Line, context: ToolContext): Promise<object | null> => {
  const message = line === undefined ? undefined : tryJson(line)
  const { data: request } = requestSchema.safeParse(message)
  if (request?.id !== undefined) return { jsonrpc: '2.0', id: request.id, ...(await handle(request, context)) }
  if (request || line?.trim() === '' || (isObject(message) && ('result' in message || 'error' in message))) return null
  const problem = `expected one request of JSON-RPC 2.0 in a line of at most ${LIMITS.mcp.lineBytes} bytes`
  return {
    jsonrpc: '2.0',
    id: null,
    ...fault(line !== undefined && message === undefined ? -32_700 : -32_600, problem),
  }
}

const handle = async (request: Request, context: ToolContext) => {
  const requested = request.params._meta?.[VERSION]
  if (requested !== undefined && !STATELESS.includes(requested))
    return fault(-32_022, 'Unsupported protocol version', { supported: STATELESS, requested })
  const outcome = await dispatch(request, context)
  if (requested === undefined || 'error' in outcome) return outcome
  const _meta = { 'io.modelcontextprotocol/serverInfo': SERVER }
  return { result: { ...outcome.result, resultType: 'complete', _meta } }
}

const dispatch = async ({ method, params }: Request, context: ToolContext) => {
  switch (method) {
    case 'initialize': {
      const protocolVersion = WITH_HANDSHAKE.find((one) => one === params['protocolVersion']) ?? WITH_HANDSHAKE[0]
      return { result: { protocolVersion, serverInfo: SERVER, ...ABOUT } }
    }
    case 'server/discover':
      return { result: { supportedVersions: STATELESS, ...ABOUT, ...CACHING } }
    case 'ping':
      return { result: {} }
    case 'tools/list':
      return { result: { tools: TOOLS.map(describeTool), ...CACHING } }
    case 'tools/call': {
      const tool = TOOLS.find(({ name }) => name === params['name'])
      if (!tool) return fault(-32_602, `unknown tool; expected ${TOOLS.map(({ name }) => name).join(', ')}`)
      return { result: await callTool(tool, params['arguments'] ?? {}, context) }
    }
    default:
      return fault(-32_601, 'unknown method')
  }
}

const describeTool = ({ name, description, input }: (typeof TOOLS)[number]) => ({
  name,
  description: `${description} ${UNTRUSTED}`,
  inputSchema: z.toJSONSchema(input, { io: 'input' }),
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
})
