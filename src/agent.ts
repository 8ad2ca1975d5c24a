import type { Logger } from 'pino'
import { createCollectors } from './collectors/index.ts'
import type { Config } from './config/schema.ts'
import { Board, type Change } from './core/board.ts'
import type { Clock } from './core/clock.ts'
import { staleAfter } from './core/collector.ts'
import { supervise } from './core/supervise.ts'
import { createExposition } from './exporter/registry.ts'
import { type Address, serve } from './exporter/server.ts'
import { renderStatus } from './exporter/status.ts'
import { type Sample, sample } from './metrics.ts'
import { parseJournalEntry } from './parsers/journal.ts'
import { createCheckpoints } from './sources/checkpoint.ts'
import { createExec } from './sources/exec.ts'
import { createAsk } from './sources/http.ts'
import { createJournal } from './sources/journal.ts'
import { createPrefix, type Prefix, type ReadPrefix } from './sources/prefix.ts'
import { createQuery } from './sources/query.ts'
import { createRpc } from './sources/rpc.ts'
import { createStatusTool } from './sources/status.ts'
import { createStorageFile, createStorageTool } from './sources/storage.ts'
import { revision, version } from './version.ts'

interface Options {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** The search path for programs. */
  readonly path: string
}

export interface Agent {
  readonly address: Address
  /** Ends collectors, children and server, and writes what must outlive them. */
  stop(): Promise<void>
}

/** How often we look for collectors that have fallen silent, in milliseconds. */
const WATCH_EVERY = 5000

/** Puts the agent together and starts it. Throws a SourceError when it cannot listen. */
export const startAgent = async ({ config, clock, log, path }: Options): Promise<Agent> => {
  const stopping = new AbortController()
  const context = { clock, signal: stopping.signal }
  const startedAt = clock.now()

  const exec = createExec({ clock, path })
  const ask = createAsk(clock)
  const exposition = createExposition((message) => {
    log.error(message)
  })
  const checkpoints = createCheckpoints(config.state.directory, (error) => {
    log.warn(
      `The places in the journal cannot be kept (${error.message}): a restart of the agent will miss lines. ` +
        `Make the directory writable for the agent, or set state.directory.`,
    )
  })
  let prefix: Prefix | undefined
  const findPrefix = createPrefix({ exec, path, configured: config.prefix })
  const board = new Board(clock, (change) => {
    logChange(log, change)
  })
  const readPrefix: ReadPrefix = async (signal) => {
    const found = await findPrefix(signal)
    if (found.word !== prefix?.word || found.from !== prefix.from) logPrefix(log, found)
    prefix = found
    return found
  }
  const tool = (name: string) => async (signal: AbortSignal) =>
    `${(await readPrefix(signal)).word}-${name}`
  const offered = createCollectors({
    config,
    clock,
    recorder: exposition.recorder,
    exec,
    journal: createJournal({ exec, parse: parseJournalEntry }),
    checkpoints,
    readPrefix,
    rpcAt: (url, timeout) => createRpc(ask, url, timeout),
    queryAt: (url, timeout) => createQuery(ask, url, timeout),
    readStorage:
      config.storage.reportFile === null
        ? createStorageTool({ exec, command: tool('mpt'), devices: config.storage.devices })
        : createStorageFile({
            path: config.storage.reportFile,
            clock,
            maxAge: staleAfter(config.storage),
          }),
    readStatus: createStatusTool({ exec, command: tool('status') }),
  })

  const buildInfo: Sample = sample('chain_agent_build_info', 1, {
    version,
    revision,
    node_version: process.versions.node,
  })
  const server = await serve(
    {
      version,
      contentType: exposition.contentType,
      complain: (error) => {
        log.error(error)
      },
      metrics: () => exposition.render([buildInfo, ...board.samples()]),
      status: () =>
        renderStatus({ version, startedAt, prefix: prefix?.word ?? null }, board.standings()),
      waitingFor: () =>
        [...board.standings()].flatMap(({ name, enabled, up }) =>
          enabled && up === undefined ? [name] : [],
        ),
    },
    config.listen,
  )

  const running = [
    ...offered.flatMap(({ collector, enabled }) => {
      if (enabled) return [supervise(collector, board, context)]
      board.dismiss(collector)
      return []
    }),
    watch(),
  ]
  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(WATCH_EVERY, stopping.signal)
      board.noticeSilence()
    }
  }
  const killChildren = (): void => {
    exec.killAll()
  }
  process.once('exit', killChildren)

  return {
    address: server.address,
    stop: async () => {
      stopping.abort()
      await Promise.all([...running, server.close()])
      await checkpoints.flush()
      exec.killAll()
      process.removeListener('exit', killChildren)
    },
  }
}

/** One line for each change, none for each tick. */
const logChange = (log: Logger, { collector, subject, from, to, error }: Change): void => {
  const what = subject ?? collector
  const news = error ? error.message.replaceAll(/\n\s*/g, '; ') : to
  const text = `${what}: ${from === undefined || subject === undefined ? '' : `${from} → `}${news}`
  const isGood = error === undefined && !to.startsWith('silent')
  log[isGood ? 'info' : 'warn'](
    { collector, ...(subject !== undefined && { subject, from, to }) },
    text,
  )
}

const logPrefix = (log: Logger, { word, from }: Prefix): void => {
  if (from === 'default') {
    log.warn(
      `No node found: systemd knows no single *-bft.service, and PATH has no node tool. ` +
        `Going on with the prefix ${word} and looking again; set \`prefix:\` to say which it is.`,
    )
  } else log.info(`The node's units and tools begin with ${word}- (from ${from}).`)
}
