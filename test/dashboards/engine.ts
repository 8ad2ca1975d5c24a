import { createWriteStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { prometheus, promtool } from '../support/prometheus.ts'
import { freePort } from '../support/free-port.ts'
import { must, startServer } from '../support/programs.ts'
import { type Api, createApi } from './api.ts'
import { history } from './history.ts'
import { alertHistory, levelsOfRecording, recordedHistory } from './rules-history.ts'

/** A real Prometheus with the history, the recorded series of the rules, and their alerts. */
export interface Engine extends Api {
  readonly origin: string
  /** The reference time of the history, in seconds since the epoch. */
  readonly now: number
  stop(): Promise<void>
}

const HOUR = 3600
const WEEK = 7 * 24 * HOUR

/** A block may be as long as the whole history: promtool reads the text once for each block. */
const LONGEST_BLOCK = '486h'
/** The history has no staleness markers: a series that ended disappears after the lookback delta. */
const LOOK_BACK = '90s'

/** Takes some 15 s. `now` is in seconds since the epoch, a multiple of a minute. */
export const startEngine = async (now = thisMinute()): Promise<Engine> => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-history-'))
  const fine = { from: now - 6 * HOUR, to: now + HOUR / 2, step: 30 }
  const week = { from: now - WEEK, to: fine.from - 60, step: 60 }
  try {
    await importInto(directory, history({ now }))
    for (const rules of levelsOfRecording()) {
      const server = await serve(directory)
      const text = await recordedHistory(server.api, rules, { week, fine })
      await server.stop()
      await importInto(directory, text)
    }
    const server = await serve(directory)
    const text = await alertHistory(server.api, fine)
    await server.stop()
    await importInto(directory, text)
    const last = await serve(directory)
    return {
      ...last.api,
      origin: last.origin,
      now,
      stop: async () => {
        await last.stop()
        await rm(directory, { recursive: true })
      },
    }
  } catch (error) {
    await rm(directory, { recursive: true, force: true })
    throw error
  }
}

const thisMinute = (): number => Math.floor(Date.now() / 60_000) * 60

const importInto = async (directory: string, text: Iterable<string>): Promise<void> => {
  const file = join(directory, 'history.om')
  await pipeline(Readable.from(text), createWriteStream(file))
  await must(await promtool(), [
    'tsdb',
    'create-blocks-from',
    `--max-block-duration=${LONGEST_BLOCK}`,
    'openmetrics',
    '--quiet',
    file,
    join(directory, 'data'),
  ])
  await rm(file)
}

const serve = async (directory: string) => {
  const address = `127.0.0.1:${await freePort()}`
  await writeFile(join(directory, 'prometheus.yml'), '{}\n')
  const origin = `http://${address}`
  const server = await startServer(`${origin}/-/ready`, await prometheus(), [
    `--config.file=${join(directory, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(directory, 'data')}`,
    '--storage.tsdb.retention.time=60d',
    `--query.lookback-delta=${LOOK_BACK}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ])
  return { origin, api: createApi(origin), stop: () => server.stop() }
}
