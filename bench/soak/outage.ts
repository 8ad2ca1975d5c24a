import { createWriteStream } from 'node:fs'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import { renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { createSimulator, type Simulator } from '../../simulator/simulator.ts'
import { systemClock } from '../../src/core/clock.ts'
import { freePort } from '../../test/support/free-port.ts'
import { must } from '../../test/support/programs.ts'
import type { SandboxedNode } from '../../test/support/sandboxed-node.ts'
import { openNode } from '../agent.ts'
import { agentEnvironment, type Cleanup, createCleanup, median, ROOT } from '../comparison.ts'

const USAGE = `Usage: npm run bench:outage -- [MINUTES]

Everything fails at once for MINUTES (default: 20): all endpoints of the node and the references, the Alertmanager and every tool hang, and consensus
writes 20,000 lines a second. Systemd and journald are real, which needs root. Prints memory, descriptors, child processes and CPU of the agent, the
times of /metrics, and how long it takes until each of its series is right again; writes .cache/bench/outage.svg.

Exit code: 0 /metrics always answered, and everything is right again; 1 not.
`

const BEFORE_MIN = 2
const AFTER_MIN = 11
const LINES_PER_SECOND = 20_000
const WRITE_EVERY_MS = 50
const SAMPLE_EVERY_MS = 5000
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail']
const TOOLS =
  `systemctl journalctl timedatectl chronyc apt-mark chain-status chain-mpt chain-bft chain-execution chain-rpc`.split(
    ' ',
  )
const FAILURES = ['rpc fails', 'reference fails', 'native vanishes', 'otelcol stops']
const REPAIRS = ['rpc answers', 'reference answers', 'native returns', 'otelcol starts']
/** A pipe that is full: journald does not accept more. */
const MAX_WAITING_BYTES = 2 ** 22

type Defer = Cleanup['defer']

/** An Alertmanager that accepts what it is sent, or, while it hangs, answers nothing. */
const startReceiver = async (defer: Defer, hangs: () => boolean): Promise<string> => {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
    socket.on('data', () => {
      if (!hangs()) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    })
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  defer(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    return Promise.resolve()
  })
  return `http://127.0.0.1:${port}`
}

/** Tools that ignore SIGTERM and print nothing while `flag` exists. */
const writeTools = async (bin: string, path: string, flag: string): Promise<void> => {
  await mkdir(bin)
  for (const tool of TOOLS) {
    const hang = `if [ -e ${flag} ]; then trap '' TERM; while :; do sleep 1; done; fi`
    await writeFile(join(bin, tool), `#!/bin/sh\n${hang}\nPATH=${path} exec ${tool} "$@"\n`)
    await chmod(join(bin, tool), 0o755)
  }
}

/** Writes the lines of the simulated node to the units, and in the outage the last one of consensus again and again. */
const writeLogs = async (node: SandboxedNode, simulator: Simulator, { defer, isOut }: Outage): Promise<void> => {
  const outputs = new Map<string, ReturnType<typeof createWriteStream>>()
  for (const unit of SERVICES.map(node.unit)) {
    const pipe = join(node.directory, `${unit}.pipe`)
    await must('mkfifo', [pipe])
    const text = `[Service]\nExecStart=\nExecStart=/bin/cat ${pipe}\nLogRateLimitIntervalSec=0\n`
    await node.writeUnit(`${unit}.d/lines.conf`, text)
    outputs.set(unit, createWriteStream(pipe))
  }
  await node.systemctl('start', ...SERVICES.map(node.unit))
  const { journal } = simulator.node
  const consensus = outputs.get(node.unit('bft'))
  let next = (journal.read(0).at(-1)?.number ?? 0) + 1
  let last = ''
  const timer = setInterval(() => {
    for (const { number, fields } of journal.read(next)) {
      const line = `${fields['MESSAGE']}\n`
      const output = outputs.get(fields['_SYSTEMD_UNIT'] ?? '')
      output?.write(line)
      if (output === consensus) last = line
      next = number + 1
    }
    if (isOut() && consensus && consensus.writableLength < MAX_WAITING_BYTES)
      consensus.write(last.repeat((LINES_PER_SECOND * WRITE_EVERY_MS) / 1000))
  }, WRITE_EVERY_MS)
  defer(async () => {
    clearInterval(timer)
    for (const output of outputs.values()) output.destroy()
    return Promise.resolve()
  })
}

interface Outage {
  readonly defer: Defer
  readonly isOut: () => boolean
}

const start = async (folder: string, [from, to]: readonly [number, number], outage: Outage) => {
  const { defer, isOut } = outage
  const at = (minute: number) => (step: string) => `${minute * 60}s ${step}`
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario: parseScenario('outage', [...FAILURES.map(at(from)), ...REPAIRS.map(at(to))].join('\n')),
    directory: join(folder, 'node'),
  })
  defer(async () => simulator.close())
  const text = renderConfig(simulator, { directory: folder, port: 0, intervals: {} })
  const { listen: _, state: __, ...config } = z.record(z.string(), z.unknown()).parse(parse(text))
  const alertmanagers = { urls: [await startReceiver(defer, isOut)] }
  const node = await openNode(defer, { config: { ...config, alertmanagers } })
  const [flag, bin] = [join(node.directory, 'tools-hang'), join(node.directory, 'hanging-bin')]
  await writeTools(bin, `/usr/bin:/bin:${simulator.binDirectory}`, flag)
  const environment = Object.entries({ ...(await agentEnvironment()), PATH: `${bin}:/usr/bin:/bin` })
  const lines = environment.map(([name, value]) => `Environment="${name}=${value}"\n`)
  await node.writeUnit('chain-agent.service.d/path.conf', `[Service]\n${lines.join('')}`)
  await writeLogs(node, simulator, outage)
  await node.startAgent()
  return { node, flag }
}

interface Sample {
  readonly minute: number
  readonly rssMiB: number
  readonly descriptors: number
  readonly children: number
  readonly cpuSeconds: number
}

const sampleOf = async (node: SandboxedNode, pid: string, minute: number): Promise<Sample> => {
  const script = `awk '/VmRSS/{print $2}' /proc/${pid}/status; ls /proc/${pid}/fd | wc -l; pgrep -P ${pid} | wc -l
systemctl show --property=CPUUsageNSec --value chain-agent.service`
  const { stdout } = await node.exec('sh', ['-c', script])
  const [rss = Number.NaN, descriptors = Number.NaN, children = Number.NaN, cpu = Number.NaN] = stdout
    .trim()
    .split('\n')
    .map(Number)
  return { minute, rssMiB: rss / 1024, descriptors, children, cpuSeconds: cpu / 1e9 }
}

interface Scrape {
  readonly minute: number
  readonly ms: number
  readonly isAnswered: boolean
}

/** The text is undefined if there was no answer within 10 s. */
const scrapeOf = async (url: string) => {
  const began = performance.now()
  const text = await fetch(url, { signal: AbortSignal.timeout(10_000) })
    .then(async (response) => (response.ok ? response.text() : undefined))
    .catch(() => undefined)
  return { ms: performance.now() - began, text }
}

const RIGHT = /^(chain_agent_collector_up|chain_\w+_up|chain_node_health|chain_service_active)(\{[^}]*\})? 1$/gm
const PRESENT =
  /^(chain_rpc_block_number|chain_block_difference|chain_ledger_seq_num\{event="proposed"\}|chain_consensus_committing) /gm

/** The series of a page that show that something is right. */
const rightIn = (text = ''): ReadonlySet<string> =>
  new Set([RIGHT, PRESENT].flatMap((pattern) => [...text.matchAll(pattern)].map(([line]) => line.replace(/ \S*$/, ''))))

export const main = async ([minutes = '20']: readonly string[]): Promise<number> => {
  if (!/^[1-9]\d{0,2}$/.test(minutes)) {
    process.stdout.write(USAGE)
    return minutes === '--help' ? 0 : 2
  }
  const parent = join(ROOT, '.cache/bench')
  await mkdir(parent, { recursive: true })
  const cleanup = createCleanup()
  try {
    const began = Date.now()
    const minute = (): number => (Date.now() - began) / 60_000
    const range = [BEFORE_MIN, BEFORE_MIN + Number(minutes)] as const
    const end = range[1] + AFTER_MIN
    const isOut = (): boolean => minute() >= range[0] && minute() < range[1]
    const folder = await mkdtemp(join(parent, 'outage-'))
    const { node, flag } = await start(folder, range, { defer: cleanup.defer, isOut })
    const url = `http://127.0.0.1:${node.port}/metrics`
    const pid = await node.systemctl('show', '--property=MainPID', '--value', 'chain-agent.service')
    const samples: Sample[] = []
    const scrapes: Scrape[] = []
    let hangs = false
    let before: ReadonlySet<string> = new Set()
    /** Seconds after the end of the outage. */
    const rightAt = new Map<string, number>()
    while (minute() < end) {
      const startedAt = Date.now()
      if (isOut() !== hangs) {
        hangs = isOut()
        if (hangs) before = rightIn((await scrapeOf(url)).text)
        await (hangs ? writeFile(flag, '') : rm(flag))
      }
      const { ms, text } = await scrapeOf(url)
      scrapes.push({ minute: minute(), ms, isAnswered: text !== undefined })
      if (minute() > range[1]) {
        const right = rightIn(text)
        for (const series of before) {
          if (!right.has(series)) rightAt.delete(series)
          else if (!rightAt.has(series)) rightAt.set(series, (minute() - range[1]) * 60)
        }
      }
      if (minute() - (samples.at(-1)?.minute ?? -1) > SAMPLE_EVERY_MS / 60_000)
        samples.push(await sampleOf(node, pid, minute()))
      await delay(Math.max(0, 1000 - (Date.now() - startedAt)))
    }
    process.stdout.write(table(samples, scrapes, [0, ...range, end]))
    const missing = [...before].filter((series) => !rightAt.has(series))
    const slowest = [...rightAt].toSorted(([, a], [, b]) => b - a).slice(0, 8)
    const texts = slowest.map(([series, seconds]) => `${series} ${seconds.toFixed(0)} s`)
    process.stdout.write(`right again, the last ones: ${texts.join(', ')}\n`)
    if (missing.length > 0) process.stdout.write(`not right after ${AFTER_MIN} min: ${missing.join(', ')}\n`)
    const points = (key: 'rssMiB' | 'descriptors') => samples.map((one) => [one.minute, one[key]] as const)
    const lines = { 'memory (RSS), MiB': points('rssMiB'), 'file descriptors': points('descriptors') }
    await writeFile(join(parent, 'outage.svg'), chart(lines, range))
    return missing.length > 0 || scrapes.some(({ isAnswered }) => !isAnswered) ? 1 : 0
  } finally {
    await cleanup.run()
  }
}

const table = (samples: readonly Sample[], scrapes: readonly Scrape[], limits: readonly number[]): string => {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`
  const head = [
    '',
    'RSS, MiB',
    'descriptors',
    'children',
    'CPU, % of a core',
    '/metrics p50, ms',
    'max, ms',
    'no answer',
  ]
  const rows = ['before', 'outage', 'after'].map((phase, index) => {
    const [from = 0, to = 0] = limits.slice(index, index + 2)
    const isWithin = (one: { readonly minute: number }): boolean => one.minute >= from && one.minute < to
    const [taken, scraped] = [samples.filter(isWithin), scrapes.filter(isWithin)]
    const most = (key: 'rssMiB' | 'descriptors' | 'children') => Math.max(...taken.map((one) => one[key])).toFixed(0)
    const [first, last] = [taken.at(0), taken.at(-1)]
    const cpu = first && last ? (last.cpuSeconds - first.cpuSeconds) / (last.minute - first.minute) / 0.6 : Number.NaN
    const times = scraped.map(({ ms }) => ms)
    const failed = scraped.filter(({ isAnswered }) => !isAnswered).length
    return row([
      phase,
      most('rssMiB'),
      most('descriptors'),
      most('children'),
      cpu.toFixed(1),
      median(times).toFixed(0),
      Math.max(...times).toFixed(0),
      `${failed} of ${times.length}`,
    ])
  })
  return [row(head), row(head.map(() => '---')), ...rows].join('')
}

/** x and y. */
type Point = readonly [number, number]

const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [860, 150, 70, 26, 50]

/** Lines over time, one panel below the other, as SVG; `shaded` is the range of an outage. */
const chart = (series: Readonly<Record<string, readonly Point[]>>, shaded: readonly [number, number]): string => {
  const all = Object.values(series).flat()
  const last = Math.max(...all.map(([x]) => x))
  const x = (value: number): number => LEFT + (value / last) * WIDTH
  const panels = Object.entries(series).map(([name, points], index) => {
    const top = TOP + index * (HEIGHT + GAP)
    const most = Math.max(...points.map(([, value]) => value)) * 1.1
    const y = (value: number): number => top + HEIGHT - (value / most) * HEIGHT
    const line = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
    const ticks = [0, 0.5, 1].map(
      (share) =>
        `<text x="${LEFT - 8}" y="${y(most * share) + 4}" text-anchor="end">${Math.round(most * share)}</text>`,
    )
    return [
      `<rect x="${x(shaded[0])}" y="${top}" width="${x(shaded[1]) - x(shaded[0])}" height="${HEIGHT}" fill="#f5d5d0"/>`,
      `<rect x="${LEFT}" y="${top}" width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#999"/>`,
      `<text x="${LEFT}" y="${top - 8}">${name}</text>`,
      ...ticks,
      `<polyline points="${line}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>`,
    ].join('\n')
  })
  const bottom = TOP + panels.length * (HEIGHT + GAP) - GAP + 18
  const minutes = Array.from({ length: Math.floor(last / 5) + 1 }, (_, index) => index * 5)
  const axis = minutes.map((minute) => `<text x="${x(minute)}" y="${bottom}" text-anchor="middle">${minute} min</text>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 20}" height="${bottom + 10}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
${panels.join('\n')}
${axis.join('\n')}
</svg>
`
}
