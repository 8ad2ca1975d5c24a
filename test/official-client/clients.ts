import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { installed } from '../support/installed.ts'
import { type Probe, requireRealPart, versionsToTest } from '../support/real-parts.ts'

const HERE = import.meta.dirname
const folderOf = (name: string): string => join(HERE, 'node_modules', name)

/** The newest native code has no wrapper of its own on the registry. */
const CLIENTS = {
  '0.6.7': { wrapper: 'client-0.6.7', native: null },
  '1.3.0': { wrapper: 'client-1.3.0', native: null },
  '1.4.1': { wrapper: 'client-1.3.0', native: 'native-1.4.1/hypersync-client.linux-x64-gnu.node' },
} as const

export type Version = keyof typeof CLIENTS

export const ALL: readonly Version[] = versionsToTest(['1.4.1', '1.3.0', '0.6.7'])
/** The versions with a stream of heights, binary requests and rate limits. */
export const RECENT: readonly Version[] = ALL.filter((version) => version !== '0.6.7')

const probe = async (): Promise<Probe> => {
  if (process.arch !== 'x64') return { missing: `the clients are for x64, not ${process.arch}` }
  try {
    await installed(HERE)
    return { version: ALL.join(', ') }
  } catch (error) {
    return { missing: String(error) }
  }
}

export const describeClients = await requireRealPart('official client', probe)

const LINE = z.strictObject({
  id: z.int(),
  item: z.unknown().optional(),
  value: z.unknown().optional(),
  error: z.string().optional(),
})

interface Pending {
  readonly onItem: (item: unknown) => void
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

type Call = (method: string, ...args: readonly unknown[]) => Promise<unknown>

export interface Client {
  /** Calls a method; rejects with the message that the user of the client sees. */
  readonly call: Call
  /** Calls a method that brings several items, up to its end. */
  readonly all: (method: string, ...args: readonly unknown[]) => Promise<readonly unknown[]>
  /** The same, whose items are used as they arrive. */
  readonly begin: (onItem: (item: unknown) => void, method: string, ...args: readonly unknown[]) => Promise<unknown>
  /** Ends the process. */
  readonly kill: () => Promise<void>
}

/** A process with an official client, until the end of the test. An error is final: it is not tried again. */
export const startClient = (
  version: Version,
  { url }: { readonly url: string },
  config: Readonly<Record<string, unknown>> = {},
): Client => {
  const { wrapper, native } = CLIENTS[version]
  const settings = JSON.stringify({
    apiToken: 'any',
    maxNumRetries: 0,
    retryBaseMs: 0,
    retryBackoffMs: 0,
    url,
    ...config,
  })
  const child = spawn(process.execPath, [join(HERE, 'client.mjs'), folderOf(wrapper), settings], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { ...process.env, ...(native !== null && { NAPI_RS_NATIVE_LIBRARY_PATH: folderOf(native) }) },
  })
  const pending = new Map<number, Pending>()
  createInterface({ input: child.stdout }).on('line', (text) => {
    const { id, item, value, error } = LINE.parse(JSON.parse(text))
    const call = pending.get(id)
    if (item !== undefined) call?.onItem(item)
    else if (error !== undefined) call?.reject(new Error(error))
    else call?.resolve(value)
  })
  const ended = once(child, 'close').then(() => {
    for (const { reject } of pending.values()) reject(new Error(`the process of client ${version} has ended`))
  })
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  onTestFinished(kill)

  let calls = 0
  const begin: Client['begin'] = (onItem, method, ...args) => {
    calls += 1
    const id = calls
    const result = new Promise((resolve, reject) => {
      pending.set(id, { onItem, resolve, reject })
    }).finally(() => pending.delete(id))
    // The end of the process ends a call that the test does not wait for.
    result.catch(() => undefined)
    child.stdin.write(`${JSON.stringify({ id, method, args })}\n`)
    return result
  }
  return {
    begin,
    call: (method, ...args) => begin(() => undefined, method, ...args),
    all: async (method, ...args) => {
      const items: unknown[] = []
      await begin((item) => items.push(item), method, ...args)
      return items
    },
    kill,
  }
}
