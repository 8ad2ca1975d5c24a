import { setMaxListeners } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { TOKENS } from '../../simulator/rpc/blocks.ts'
import { median } from '../comparison.ts'

/** Clients of the measured processes, until the signal aborts. A request that fails is counted, not repeated. */
export const createLoad = (signal: AbortSignal) => {
  setMaxListeners(0, signal)
  const pause = async (ms: number): Promise<void> => {
    await delay(ms, undefined, { signal }).catch(() => undefined)
  }
  let failed = 0
  const running: Promise<void>[] = []
  const every = (ms: number, act: () => Promise<unknown>): void => {
    const loop = async (): Promise<void> => {
      while (!signal.aborted) {
        await act().catch(() => {
          failed += 1
        })
        await pause(ms)
      }
    }
    running.push(loop())
  }
  // A signal of its own: Node.js 20 keeps a listener for each request on a signal that is shared.
  const read = async (url: string, init?: RequestInit): Promise<string> =>
    (await fetch(url, { ...init, signal: AbortSignal.timeout(60_000) })).text()

  return {
    pause,
    isStopped: (): boolean => signal.aborted,
    every,
    read,
    /** Requests that failed since the last call: a connection that was rejected, a page that could not be read. */
    takeFailed: (): number => {
      const count = failed
      failed = 0
      return count
    },
    ended: async (): Promise<void> => void (await Promise.all(running)),
    /** Scrapes like Prometheus, at that interval; returns the times since the last call. */
    scrapes: (url: string, ms: number): (() => Record<string, number>) => {
      let times: number[] = []
      every(ms, async () => {
        const began = performance.now()
        await read(url)
        times.push(performance.now() - began)
      })
      return () => {
        const taken = times
        times = []
        if (taken.length === 0) return {}
        return { '/metrics p50, ms': median(taken), '/metrics max, ms': Math.max(...taken), scrapes: taken.length }
      }
    },
    /** A viewer opens the page with its files, keeps it open for a while, and leaves. */
    viewer: (url: string, staysMs: number): void => {
      every(staysMs / 4, async () => {
        const page = await read(url)
        for (const [, file = ''] of page.matchAll(/(?:src|href)="(\/[\w.-]+\.(?:css|js)[^"]*)"/g))
          await read(`${url}${file}`)
        const leaving = new AbortController()
        const leave = (): void => leaving.abort()
        const timer = setTimeout(leave, staysMs * (0.5 + Math.random()))
        signal.addEventListener('abort', leave)
        try {
          for (;;) {
            await (await fetch(url, { signal: leaving.signal })).text()
            await delay(5000, undefined, { signal: leaving.signal })
          }
        } catch (error) {
          if (!leaving.signal.aborted) throw error
        } finally {
          clearTimeout(timer)
          signal.removeEventListener('abort', leave)
        }
      })
    },
    /** A client of the query service, which asks for a random range again and again. */
    queries: (url: string, ms: number): void => {
      every(ms, async () => {
        const { height } = heightSchema.parse(JSON.parse(await read(`${url}/height`)))
        const from = Math.max(0, height - Math.floor(Math.random() * 5000))
        const body = JSON.stringify({
          from_block: from,
          to_block: from + 500,
          logs: Math.random() < 0.5 ? [{}] : [{ address: [TOKENS.erc20] }],
          field_selection: { log: ['block_number', 'log_index', 'address', 'topic0', 'topic1', 'topic2', 'data'] },
        })
        await read(`${url}/query`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      })
    },
  }
}

const heightSchema = z.object({ height: z.number() })

export type Load = ReturnType<typeof createLoad>
