import type { ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { constants, deflateRaw } from 'node:zlib'
import type { Clock } from '../../core/clock.ts'
import { asError } from '../../core/errors.ts'
import { LIMITS } from '../../core/limits.ts'
import { second } from '../../core/units.ts'
import type { StreamAliveMessage, StreamChangeMessage } from '../../parsers/agent-api.ts'

/** A state of the page. Its parts have the number of the version in which they changed last. */
export interface PageState {
  readonly at: number
  readonly version: number
  readonly title: string
  readonly icon: string
  readonly parts: ReadonlyMap<string, { readonly html: string; readonly changedIn: number }>
}

interface StreamOptions {
  readonly clock: Clock
  /** Differs between two processes: a version of another one means nothing here. */
  readonly epoch: string
  /** The current state; called once per interval, however many viewers there are. */
  readonly read: () => Promise<PageState>
  readonly complain: (error: Error) => void
}

const INTERVAL_MS = 2 * second
/** The viewer regards a connection as lost after 15 s without a message. */
const ALIVE_MS = 4 * second

interface Viewer {
  readonly response: ServerResponse
  readonly isCompressed: boolean
  /** The version that the viewer has; 0 for none. */
  version: number
}

interface Message {
  readonly plain: Buffer
  readonly compressed: Buffer
}

/** The header of a gzip stream. Blocks follow that are compressed once for all viewers. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255])

const compress = promisify(deflateRaw)

/** A message that ends at a byte boundary and refers to no earlier one, so that it can follow any other. */
const messageOf = async (text: string): Promise<Message> => {
  const plain = Buffer.from(text)
  return { plain, compressed: await compress(plain, { level: 6, finishFlush: constants.Z_FULL_FLUSH }) }
}

/** Sends the changes of a page to its viewers as server-sent events. */
export const createStream = ({ clock, epoch, read, complain }: StreamOptions) => {
  const viewers = new Set<Viewer>()
  let running: { readonly ended: Promise<void>; readonly stop: AbortController } | undefined
  let isClosed = false
  let aliveAt = 0

  const send = (viewer: Viewer, { plain, compressed }: Message): void => {
    const { response, isCompressed } = viewer
    // A viewer that does not read gets the newest state when it connects again.
    if (response.writableLength > LIMITS.server.streamBytes) response.destroy()
    else response.write(isCompressed ? compressed : plain)
  }

  /** Sends the changes of a state to the viewers that do not have it, with one message for all that have the same. */
  const broadcast = async (state: PageState): Promise<void> => {
    const messages = new Map<number, Message>()
    for (const viewer of viewers) {
      if (viewer.version === state.version) continue
      const message = messages.get(viewer.version) ?? (await messageOf(changesSince(viewer.version, state, epoch)))
      messages.set(viewer.version, message)
      viewer.version = state.version
      send(viewer, message)
    }
    if (messages.size > 0) aliveAt = clock.elapsed()
    else if (clock.elapsed() - aliveAt >= ALIVE_MS) {
      aliveAt = clock.elapsed()
      const alive: StreamAliveMessage = { at: state.at }
      const message = await messageOf(`event: alive\ndata: ${JSON.stringify(alive)}\n\n`)
      for (const viewer of viewers) send(viewer, message)
    }
  }

  const run = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && viewers.size > 0) {
      try {
        await broadcast(await read())
      } catch (error) {
        complain(asError(error))
      }
      await clock.sleep(INTERVAL_MS, signal)
    }
  }

  const start = (): void => {
    if (running) return
    const stop = new AbortController()
    const ended = run(stop.signal).finally(() => {
      running = undefined
      // One may have come after the last one left.
      if (viewers.size > 0 && !isClosed) start()
    })
    running = { ended, stop }
  }

  return {
    /** Answers a request. `since` is the id of the last message that the viewer has. */
    open: (response: ServerResponse, since: string | undefined, acceptsGzip: boolean): void => {
      if (viewers.size >= LIMITS.server.streams) {
        response.writeHead(503, { 'Content-Type': 'text/plain; charset=utf-8', 'Retry-After': '30' })
        response.end(`${LIMITS.server.streams} viewers are connected already. Reload the page instead.\n`)
        return
      }
      const viewer = { response, isCompressed: acceptsGzip, version: versionOf(since, epoch) }
      response.writeHead(200, {
        'Content-Type': 'text/event-stream; charset=utf-8',
        // A proxy must not wait for the end.
        'X-Accel-Buffering': 'no',
        Vary: 'Accept-Encoding',
        ...(acceptsGzip && { 'Content-Encoding': 'gzip' }),
      })
      if (acceptsGzip) response.write(GZIP_HEADER)
      response.flushHeaders()
      viewers.add(viewer)
      response.once('close', () => {
        viewers.delete(viewer)
        if (viewers.size === 0) running?.stop.abort()
      })
      start()
    },
    viewers: () => viewers.size,
    close: async (): Promise<void> => {
      isClosed = true
      const ended = running?.ended
      running?.stop.abort()
      for (const { response } of viewers) response.destroy()
      await ended
    },
  }
}

/** The version in an id of this process; 0 for all others. */
const versionOf = (id: string | undefined, epoch: string): number => {
  const [from, version] = id?.split('-') ?? []
  return from === epoch && /^\d{1,15}$/.test(version ?? '') ? Number(version) : 0
}

/** A message with the parts that changed after a version. */
const changesSince = (version: number, state: PageState, epoch: string): string => {
  // A later version than the current one is not of this process.
  const since = version > state.version ? 0 : version
  const { at, title, icon } = state
  const change: StreamChangeMessage = {
    at,
    title,
    icon,
    parts: [...state.parts].flatMap(([id, { html, changedIn }]) => (changedIn > since ? [[id, html]] : [])),
  }
  return `id: ${epoch}-${state.version}\ndata: ${JSON.stringify(change)}\n\n`
}
