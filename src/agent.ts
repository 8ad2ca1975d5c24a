import { setMaxListeners } from 'node:events'
import type { Logger } from 'pino'
import { createCollectors } from './collectors/index.ts'
import { readForks } from './config/forks.ts'
import type { Config } from './config/schema.ts'
import { Board } from './core/board.ts'
import type { Clock } from './core/clock.ts'
import { supervise } from './core/supervise.ts'
import { createChangeLog } from './exporter/change-log.ts'
import { createExposition } from './exporter/registry.ts'
import { type Address, serve } from './exporter/server.ts'
import { renderStatus } from './exporter/status.ts'
import { type Sample, sample } from './metrics.ts'
import { parseJournalEntry } from './parsers/journal.ts'
import { createCheckpoints } from './sources/checkpoint.ts'
import { createExec, type Exec } from './sources/exec.ts'
import { createHeartbeat } from './sources/heartbeat.ts'
import { createHostSources } from './sources/host.ts'
import { type Ask, createAsk } from './sources/http.ts'
import { createJournal } from './sources/journal.ts'
import { createReadOldest } from './sources/journal-oldest.ts'
import { keyFiles } from './sources/key-files.ts'
import { createNative } from './sources/native.ts'
import { createPrefix, type Prefix, type ReadPrefix } from './sources/prefix.ts'
import { createQuery } from './sources/query.ts'
import { createKeyReport, createStorageReport } from './sources/report-file.ts'
import { createRpc } from './sources/rpc.ts'
import { createStatusTool } from './sources/status.ts'
import { createStorageTool } from './sources/storage.ts'
import { revision, version } from './version.ts'

interface Options {
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  /** The search path for programs. */
  readonly path: string
  /** Who runs programs and asks over HTTP, where it is not the host: in a rehearsal. */
  readonly exec?: Exec
  readonly ask?: Ask
  /** Whether no other agent shares the process; what is of a shared one is told of none of them. */
  readonly ownsProcess?: boolean
}

export interface Agent {
  readonly address: Address
  /** Ends collectors, children and server, and writes what must outlive them. */
  stop(): Promise<void>
}

/** How often we look for collectors that have fallen silent, in milliseconds. */
const WATCH_EVERY = 5000

/** Puts the agent together and starts it. Throws a SourceError when it cannot listen. */
export const startAgent = async (options: Options): Promise<Agent> => {
  const { config, clock, log, path } = options
  const { exec = createExec({ clock, path }), ask = createAsk(clock), ownsProcess = true } = options
  const stopping = new AbortController()
  // Every collector listens to it, some of them twice: Node takes more than ten for a leak.
  setMaxListeners(100, stopping.signal)
  const context = { clock, signal: stopping.signal }
  const startedAt = clock.now()

  const complain = (message: string): void => {
    log.error(message)
  }
  const exposition = createExposition(complain, { ownsProcess })
  const checkpoints = createCheckpoints(config.state.directory, (error) => {
    log.warn(
      `The places in the journal cannot be kept (${error.message}): a restart of the agent will miss lines. ` +
        `Make the directory writable for the agent, or set state.directory.`,
    )
  })
  let prefix: Prefix | undefined
  const findPrefix = createPrefix({ exec, path, configured: config.prefix })
  const board = new Board(clock, createChangeLog(log))
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
    readOldest: createReadOldest({ exec, parse: parseJournalEntry }),
    checkpoints,
    readPrefix,
    rpcAt: (url, timeout) => createRpc(ask, url, timeout),
    queryAt: (url, timeout) => createQuery(ask, url, timeout),
    nativeAt: (url, timeout) => createNative(ask, url, timeout),
    readStorage:
      createStorageReport(config.storage, clock) ??
      createStorageTool({ exec, command: tool('mpt'), devices: config.storage.devices }),
    readStatus: createStatusTool({ exec, command: tool('status') }),
    host: createHostSources(config.host),
    forks: readForks(config.version.forksFile),
    keyFiles,
    readKeyReport: createKeyReport(config.keys, clock),
    published: () => board.samples(),
    heartbeatTo: (urlFile, timeout) => createHeartbeat({ ask, urlFile, timeout }),
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

const logPrefix = (log: Logger, { word, from }: Prefix): void => {
  if (from === 'default') {
    log.warn(
      `No node found: systemd knows no single *-bft.service, and PATH has no node tool. ` +
        `Going on with the prefix ${word} and looking again; set \`prefix:\` to say which it is.`,
    )
  } else log.info(`The node's units and tools begin with ${word}- (from ${from}).`)
}
