import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { installed } from '../support/installed.ts'
import { start } from '../support/programs.ts'
import type { Probe } from '../support/real-parts.ts'

const HERE = import.meta.dirname
const HARDHAT = join(HERE, 'node_modules/hardhat')

export const probeHardhat = async (): Promise<Probe> => {
  try {
    await installed(HERE)
    const manifest: unknown = JSON.parse(await readFile(join(HARDHAT, 'package.json'), 'utf8'))
    return { version: `hardhat ${z.object({ version: z.string() }).parse(manifest).version}` }
  } catch (error) {
    return { missing: String(error) }
  }
}

export interface EvmNode {
  readonly url: string
  height(): Promise<number>
  stop(): Promise<void>
}

/** A real JSON-RPC node with a real EVM behind it: a block every 400 ms. */
export const startHardhat = async (): Promise<EvmNode> => {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const cli = join(HARDHAT, 'internal/cli/bootstrap.js')
  const args = [cli, 'node', '--hostname', '127.0.0.1', '--port', `${port}`]
  const env = { HARDHAT_DISABLE_TELEMETRY_PROMPT: 'true' }
  const server = start(process.execPath, args, { cwd: HERE, env })
  const height = async (): Promise<number> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}',
    })
    return Number(z.object({ result: z.string() }).parse(await response.json()).result)
  }
  try {
    await eventually(height, (seen) => seen >= 3)
  } catch (error) {
    await server.stop()
    throw new Error(`hardhat does not mine; it wrote:\n${server.output()}`, { cause: error })
  }
  return { url, height, stop: server.stop }
}
