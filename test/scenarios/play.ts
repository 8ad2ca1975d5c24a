import { createServer } from 'node:http'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { z } from 'zod'
import type { Scenario } from '../../simulator/scenario/scenario.ts'
import { type Host, startHost } from '../support/host.ts'
import { listening } from '../support/http.ts'
import { secret } from '../support/secrets.ts'
import { textStream } from '../support/text-stream.ts'
import type { PageRecord } from './status-page.ts'
import { askSurfaces, type Bundle, bundleOf, contradictionIn, type Moment } from './surfaces.ts'
import { COMMANDS_S, GOLDEN_S, PAGE_S, type Timeline, timelineOf } from './timeline.ts'

const LOOK_EVERY_S = 5
/** In `healthy` only: after the golden metrics, and over before the page is drawn. */
const MAINTENANCE = { second: 61, minutes: 0.1 }
const COMMANDS = ['check', 'status', 'recover', 'monlog']

/** All that is recorded while a scenario is played once. */
export interface Play {
  readonly timeline: Timeline
  readonly looks: readonly { readonly second: number; readonly metrics: string }[]
  readonly log: readonly string[]
  /** The output of `restart-window --json` with the golden metrics. */
  readonly restart: string
  /** The outputs and exit codes of commands at second 95. */
  readonly commands: string
  readonly moments: readonly Moment[]
  /** Of `service-crash`, after the fault: how the page contradicts itself, second by second. */
  readonly contradictions: readonly string[]
  /** The alerts that fired at severity critical, in order: the first one is the page. */
  readonly critical: readonly string[]
  readonly bundle: Bundle | undefined
  readonly page: PageRecord | undefined
  /** Everything that the agent emitted: each page as last served, outputs, its log, its bundle and the files of its state directory. */
  readonly emitted: string
}

/** The other nodes of the simulated network. */
const REFERENCE = 'http://reference.simulated'

export interface PlayOptions {
  /** In the place of the end of its timeline. */
  readonly seconds?: number | undefined
  /** Whether surfaces and the bundle are read too. */
  readonly isWhole: boolean
  readonly recordPage: (host: Host) => Promise<PageRecord | undefined>
}

/** Plays a scenario: the whole agent with the configuration of the demo on a simulated host with secrets planted in it. */
export const play = async (scenario: Scenario, { seconds, isWhole, recordPage }: PlayOptions): Promise<Play> => {
  const timeline = timelineOf(scenario)
  const folder = await mkdtemp(join(tmpdir(), 'chain-agent-scenario-'))
  const log = textStream()
  let elapsed = (): number => 0
  const isHealthy = scenario.name === 'healthy'
  const deadMan = await listenForHeartbeats(() => isHealthy && elapsed() > 100 && elapsed() < 130)
  await writeFile(join(folder, 'heartbeat'), deadMan.url)
  await writeFile(join(folder, 'api-key'), secret('ApiKey'))
  const host = await startHost({
    scenario: scenario.name,
    second: 0,
    hasSecrets: true,
    settings: {
      'heartbeat.urlFile': join(folder, 'heartbeat'),
      'heartbeat.interval': '10s',
      'status.interval': '10s',
      references: JSON.stringify([
        { name: 'other-rpc', url: REFERENCE, kind: 'rpc' },
        { name: 'query-service', url: REFERENCE, kind: 'query', apiKeyFile: join(folder, 'api-key') },
      ]),
    },
    log: pino({ base: null }, log.stream),
  })
  elapsed = () => host.elapsed() / 1000
  const looks: Play['looks'][number][] = []
  const moments: Moment[] = []
  const contradictions: string[] = []
  let [restart, commands] = ['', '']
  let page: PageRecord | undefined
  try {
    for (let second = 0; second <= (seconds ?? timeline.end); second += 1) {
      // Commands that read files let the clock of the host move.
      await host.pass(second - elapsed())
      if (second === MAINTENANCE.second && isHealthy) await host.announce(MAINTENANCE)
      // The pages that are requested evaluate the rules: metrics are rendered once in an instant, and after them.
      if (isWhole && timeline.moments.includes(second))
        moments.push(await askSurfaces(host, second, isAsked(timeline, second)))
      if (second % LOOK_EVERY_S === 0) looks.push({ second, metrics: await host.page('/metrics') })
      if (second === GOLDEN_S) restart = (await host.run(['restart-window', '--json'])).out
      if (second === COMMANDS_S) commands = await outputsOf(host)
      if (second === PAGE_S) page = await recordPage(host)
      if (!isWhole) continue
      if (scenario.name === 'service-crash' && second > timeline.fault)
        contradictions.push(contradictionIn(await host.page('/api/v1/overview')))
    }
    const pages = await Promise.all(['/', '/metrics', '/api/v1/status', '/api/v1/events', '/-/ready'].map(host.page))
    const critical = criticalIn(await host.page('/api/v1/events?limit=10000'))
    const bundle = isWhole ? await bundleOf(host) : undefined
    const state = join(host.directory, 'state')
    await mkdir(state, { recursive: true })
    const entries = await readdir(state, { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile() && !/\.(?:new|lock)$/.test(entry.name))
    const kept = await Promise.all(files.map(async ({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')))
    const outputs = [restart, commands, ...moments.flatMap((moment) => moment.outputs)]
    const emitted = [...pages, ...kept, ...log.chunks, ...outputs, bundle?.text ?? ''].join('\n')
    return {
      timeline,
      looks,
      log: log.chunks,
      restart,
      commands,
      moments,
      contradictions,
      critical,
      bundle,
      page,
      emitted,
    }
  } finally {
    await host.close()
    await deadMan.close()
    await rm(folder, { recursive: true })
  }
}

const eventsSchema = z.object({
  events: z.array(z.object({ collector: z.string(), subject: z.string().nullable(), to: z.string(), at: z.string() })),
})

const criticalIn = (text: string): readonly string[] =>
  eventsSchema
    .parse(JSON.parse(text))
    .events.filter(({ collector, to }) => collector === 'alerts' && to.startsWith('critical'))
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .map(({ subject }) => subject?.split(' ')[0] ?? '')

/** All surfaces are asked with the first cause of the fault, and at the end. */
const isAsked = ({ moments, cause }: Timeline, second: number): boolean => second === cause || second === moments.at(-1)

/** What differs by the second, the machine or the time that files take is a number sign. */
const outputsOf = async (host: Host): Promise<string> => {
  const outputs: string[] = []
  for (const command of COMMANDS) {
    const { code, out, err } = await host.run([command])
    const text = `${out}${err}`
      .replaceAll(host.directory, '/host')
      .replaceAll(/ For \d+ \w+(?=[.;])/g, ' For #')
      .replaceAll(/, led by .*/g, ', led by #')
      .replaceAll(/, the newest .* before its end/g, '')
      .replaceAll(/ The block that is compared is .* old\./g, '')
      .replaceAll(/ are left, [^.]*/g, ' are left')
      .replaceAll(/Time left for a restart: [^.]*/g, 'Time left for a restart: #')
      .replaceAll(/\d[\d,.]*( (?:h|min) \d+)*/g, '#')
    outputs.push(`$ chain-agent ${command}`, text, `exit code ${code}`, '')
  }
  return outputs.join('\n')
}

/** The receiver of heartbeats. */
const listenForHeartbeats = async (rejects: () => boolean) => {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(rejects() ? 503 : 200).end())
  })
  const { url, close } = await listening(server)
  return { url: `${url}/${secret('Heartbeat')}`, close }
}
