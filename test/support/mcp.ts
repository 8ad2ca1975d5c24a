import { fileURLToPath } from 'node:url'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { onTestFinished } from 'vitest'
import { z } from 'zod'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

const answerSchema = z.looseObject({
  note: z.string(),
  cut: z.array(z.string()),
  at: z.iso.datetime(),
  ageSeconds: z.unknown().optional(),
  error: z.string().optional(),
  data: z.unknown().optional(),
})

interface Given {
  readonly config: string
  readonly path?: string
  /** Default: the newest revision that both have. */
  readonly mode?: 'auto' | 'legacy'
}

/** The official client, connected to `chain-agent mcp` until the end of the test. */
export const openMcp = async ({ config, path = process.env['PATH'] ?? '', mode = 'auto' }: Given) => {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  const args = [MAIN, 'mcp', '--config', config]
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env: { PATH: path }, stderr: 'pipe' }),
  )
  onTestFinished(async () => client.close())
  /** The text of the result, and its JSON. */
  const call = async (name: string, given: Record<string, unknown> = {}) => {
    const { content, isError } = await client.callTool({ name, arguments: given })
    const [only, ...others] = content
    if (only?.type !== 'text' || others.length > 0) throw new Error(`expected one text, received ${content.length}`)
    return { ...answerSchema.parse(JSON.parse(only.text)), text: only.text, isError }
  }
  return { client, call }
}
