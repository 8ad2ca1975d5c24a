import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createWriteStream } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import { renderConfig } from '../../simulator/commands/demo/demo-texts.ts'
import { parseScenario } from '../../simulator/scenario/scenario.ts'
import { createSimulator } from '../../simulator/simulator.ts'
import { systemClock } from '../../src/core/clock.ts'
import { freePort } from '../../test/support/free-port.ts'
import { must } from '../../test/support/programs.ts'
import { openNode } from '../agent.ts'
import { agentEnvironment, createCleanup, ROOT } from '../comparison.ts'
import { chart, type Point } from './chart.ts'

/** Minutes before the outage; those of the outage are the argument; then until everything is right. */
const QUIET_MIN = 2
const AFTER_MIN = 3
const LINES_PER_SECOND = 20_000
const SERVICES = ['bft', 'execution', 'rpc', 'ledger-tail']
/** Tools that the agent runs, of the system and of the node. */
const TOOLS = [
  'systemctl',
  'journalctl',
  'timedatectl',
  'chronyc',
  'apt-mark',
  'chain-status',
  'chain-mpt',
  'chain-bft',
  'chain-execution',
  'chain-rpc',
]

interface Sample {
  readonly minute: number
  readonly rssMiB: number
  readonly descriptors: number
  readonly children: number
  readonly cpuSeconds: number
}

/** A server that accepts connections; while it hangs it answers none. */
const startReceiver = async (defer: ReturnType<typeof createCleanup>['defer']) => {
  const state = { hangs: false }
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)))
    socket.on('data', () => {
      if (!state.hangs) socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n')
    })
  })
  const port = await freePort()
  server.listen(port, '127.0.0.1')
  defer(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return { url: `http://127.0.0.1:${port}`, state }
}

/**
 * Everything fails at once for some minutes: every endpoint, every tool, the receivers of alerts, and the log of consensus
 * has 20,000 lines a second. Prints memory, descriptors and CPU of the agent, the times of `/metrics`, and how long it
 * takes until everything is right again; writes a chart. Needs root: systemd and journald are real.
 */
export const main = async ([minutes = '20']: readonly string[]): Promise<number> => {
  const outage = Number(minutes)
  const parent = join(ROOT, '.cache/bench')
  await mkdir(parent, { recursive: true })
  const folder = await mkdtemp(join(parent, 'outage-'))
  const cleanup = createCleanup()
  const { defer } = cleanup
  try {
    const [from, to] = [QUIET_MIN * 60, (QUIET_MIN + outage) * 60]
    const steps = [
      ...['rpc fails', 'reference fails', 'native vanishes', 'otelcol stops'].map((step) => `${from}s ${step}`),
      ...['rpc answers', 'reference answers', 'native returns', 'otelcol starts'].map((step) => `${to}s ${step}`),
    ]
    const simulator = await createSimulator({
      clock: systemClock,
      prefix: 'chain',
      scenario: parseScenario('outage', steps.join('\n')),
      directory: join(folder, 'node'),
      rpcPort: 0,
      referencePort: 0,
    })
    const startedAt = Date.now()
    defer(async () => simulator.close())
    const receiver = await startReceiver(defer)
    const {
      listen: _,
      state: __,
      ...config
    } = z
      .record(z.string(), z.unknown())
      .parse(parse(renderConfig(simulator, { directory: folder, port: 0, intervals: {}, hasTokens: false })))
    const receivers = { alertmanagers: { urls: [receiver.url] } }
    const node = await openNode(defer, { config: { ...config, ...receivers } })
    const flag = join(node.directory, 'tools-hang')
    const bin = join(node.directory, 'hanging-bin')
    await mkdir(bin)
    for (const tool of TOOLS) {
      const real = `PATH=/usr/bin:/bin:${simulator.binDirectory}`
      const script = `#!/bin/sh\nif [ -e ${flag} ]; then trap '' TERM; while :; do sleep 1; done; fi\n${real} exec ${tool} "$@"\n`
      await writeFile(join(bin, tool), script)
      await chmod(join(bin, tool), 0o755)
    }
    const environment = Object.entries({ ...(await agentEnvironment()), PATH: `${bin}:/usr/bin:/bin` })
    const lines = environment.map(([name, value]) => `Environment=${name}=${value}\n`).join('')
    await node.writeUnit('chain-agent.service.d/path.conf', `[Service]\n${lines}`)
    const outputs = new Map<string, ReturnType<typeof createWriteStream>>()
    for (const unit of SERVICES.map(node.unit)) {
      const pipe = join(node.directory, `${unit}.pipe`)
      await must('mkfifo', [pipe])
      await node.writeUnit(
        `${unit}.d/lines.conf`,
        `[Service]\nExecStart=\nExecStart=/bin/cat ${pipe}\nLogRateLimitIntervalSec=0\n`,
      )
      outputs.set(unit, createWriteStream(pipe))
    }
    await node.systemctl('start', ...SERVICES.map(node.unit))
    const { journal } = simulator.node
    let next = (journal.read(0).at(-1)?.number ?? 0) + 1
    let line = ''
    let written = 0
    const isOut = (): boolean => Date.now() - startedAt >= from * 1000 && Date.now() - startedAt < to * 1000
    const timer = setInterval(() => {
      for (const { number, fields } of journal.read(next)) {
        const unit = fields['_SYSTEMD_UNIT'] ?? ''
        outputs.get(unit)?.write(`${fields['MESSAGE']}\n`)
        if (unit === node.unit('bft')) line = `${fields['MESSAGE']}\n`
        next = number + 1
      }
      receiver.state.hangs = isOut()
      const output = outputs.get(node.unit('bft'))
      // A pipe that is full is a journald that accepts no more.
      if (isOut() && output && output.writableLength < 2 ** 22) {
        output.write(line.repeat(LINES_PER_SECOND / 20))
        written += LINES_PER_SECOND / 20
      }
    }, 50)
    defer(async () => {
      clearInterval(timer)
      for (const output of outputs.values()) output.destroy()
      return Promise.resolve()
    })
    await node.startAgent()
    const url = `http://127.0.0.1:${node.port}/metrics`
    const pid = (await node.systemctl('show', '--property=MainPID', '--value', 'chain-agent.service')).trim()

    const sampleNow = async (): Promise<Sample> => {
      const script = `awk '/VmRSS/{print $2}' /proc/${pid}/status; ls /proc/${pid}/fd | wc -l; pgrep -P ${pid} | wc -l; systemctl show -p CPUUsageNSec --value chain-agent.service; awk '{print $14+$15}' /proc/${pid}/stat`
      const { stdout } = await node.exec('sh', ['-c', script])
      const [rss = NaN, descriptors = NaN, children = NaN, cpu = NaN] = stdout.trim().split('\n').map(Number)
      return {
        minute: (Date.now() - startedAt) / 60_000,
        rssMiB: rss / 1024,
        descriptors,
        children,
        cpuSeconds: cpu / 1e9,
      }
    }
    const samples: Sample[] = []
    const scrapes: { minute: number; ms: number; isOk: boolean; text: string }[] = []
    const scrapeNow = async (): Promise<void> => {
      const began = performance.now()
      const text = await fetch(url, { signal: AbortSignal.timeout(10_000) })
        .then(async (response) => (response.ok ? response.text() : ''))
        .catch(() => '')
      const ms = performance.now() - began
      scrapes.push({ minute: (Date.now() - startedAt) / 60_000, ms, isOk: text !== '', text })
      if (scrapes.length > 2) scrapes.at(-2)!.text = ''
    }
    const minuteNow = (): number => (Date.now() - startedAt) / 60_000
    const end = QUIET_MIN + outage + AFTER_MIN
    let isHanging = false
    let before: ReadonlySet<string> = new Set()
    const rightAt = new Map<string, number>()
    while (minuteNow() < end) {
      const began = Date.now()
      if (isOut() !== isHanging) {
        isHanging = isOut()
        if (isHanging) {
          before = rightIn(scrapes.at(-1)?.text ?? '')
          await writeFile(flag, '')
        } else await rm(flag)
        process.stderr.write(
          `${minuteNow().toFixed(2)} min: ${isHanging ? 'everything fails' : 'everything answers'}\n`,
        )
      }
      await scrapeNow()
      if (minuteNow() > QUIET_MIN + outage) {
        const right = rightIn(scrapes.at(-1)?.text ?? '')
        for (const one of before)
          if (right.has(one) && !rightAt.has(one)) rightAt.set(one, Date.now() - startedAt - to * 1000)
        for (const one of [...rightAt.keys()]) if (!right.has(one)) rightAt.delete(one)
      }
      if (samples.length === 0 || minuteNow() - samples.at(-1)!.minute > 5 / 60) samples.push(await sampleNow())
      await delay(Math.max(0, 1000 - (Date.now() - began)))
    }
    await writeFile(
      join(parent, 'outage.json'),
      JSON.stringify({ samples, scrapes: scrapes.map(({ text: _t, ...rest }) => rest) }),
    )
    report({ samples, scrapes, phases: [0, QUIET_MIN, QUIET_MIN + outage, end], written })
    const missing = [...before].filter((one) => !rightAt.has(one))
    const last = [...rightAt].toSorted(([, a], [, b]) => b - a)
    process.stdout.write(
      `right again, s after the end: ${last
        .slice(0, 8)
        .map(([name, ms]) => `${name} ${Math.round(ms / 1000)}`)
        .join(', ')}\n`,
    )
    if (missing.length > 0) process.stdout.write(`not right: ${missing.join(', ')}\n`)
    const points = (key: 'rssMiB' | 'descriptors'): readonly Point[] => samples.map((one) => [one.minute, one[key]])
    await writeFile(
      join(parent, 'outage.svg'),
      chart({ 'memory (RSS), MiB': points('rssMiB'), 'file descriptors': points('descriptors') }, [
        QUIET_MIN,
        QUIET_MIN + outage,
      ]),
    )
    return missing.length
  } finally {
    await cleanup.run()
  }
}

/** What is right in metrics: collectors that work, sources that answer, health, and readings that are present. */
const rightIn = (text: string): ReadonlySet<string> => {
  const right = new Set<string>()
  for (const line of text.split('\n')) {
    const [, series = ''] =
      /^((?:chain_agent_collector_up|chain_\w+_up(?=[{ ])|chain_node_health|chain_service_active)\{?[^}]*\}?) 1$/.exec(
        line,
      ) ?? []
    if (series !== '') right.add(series)
    const [, name = ''] =
      /^(chain_rpc_block_number|chain_block_difference|chain_ledger_seq_num\{event="proposed"\}|chain_consensus_committing)[ {]/.exec(
        line,
      ) ?? []
    if (name !== '') right.add(name)
  }
  return right
}

const report = ({
  samples,
  scrapes,
  phases,
  written,
}: {
  readonly samples: readonly Sample[]
  readonly scrapes: readonly { minute: number; ms: number; isOk: boolean }[]
  readonly phases: readonly number[]
  readonly written: number
}): void => {
  const names = ['before', 'outage', 'after']
  process.stdout.write(
    '| phase | RSS max, MiB | descriptors max | children max | CPU, % of a core | /metrics p50, ms | max | failed |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
  )
  names.forEach((name, index) => {
    const [a = 0, b = 0] = phases.slice(index, index + 2)
    const within = samples.filter(({ minute }) => minute >= a && minute < b)
    const times = scrapes.filter(({ minute }) => minute >= a && minute < b)
    const [first, last] = [within.at(0), within.at(-1)]
    const cpu = first && last ? ((last.cpuSeconds - first.cpuSeconds) / ((last.minute - first.minute) * 60)) * 100 : NaN
    const ms = times.map((one) => one.ms).toSorted((x, y) => x - y)
    process.stdout.write(
      `| ${name} | ${Math.max(...within.map((one) => one.rssMiB)).toFixed(0)} | ${Math.max(...within.map((one) => one.descriptors))} | ${Math.max(...within.map((one) => one.children))} | ${cpu.toFixed(1)} | ${ms[Math.floor(ms.length / 2)]?.toFixed(0)} | ${ms.at(-1)?.toFixed(0)} | ${times.filter(({ isOk }) => !isOk).length} of ${times.length} |\n`,
    )
  })
  process.stdout.write(`lines written by consensus: ${written}\n`)
}
