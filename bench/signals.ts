import { setTimeout as delay } from 'node:timers/promises'
import { UNIT, vote } from '../test/collectors/consensus-log.ts'
import { eventually } from '../test/support/eventually.ts'
import type { SandboxedNode } from '../test/support/sandboxed-node.ts'
import { type Exposition, scrape } from '../test/support/scrape.ts'
import { type Exporter, openAgents, openPipes, startLedger } from './agent.ts'
import type { Comparison, Setup, Take } from './comparison.ts'

const ROUNDS = 10
/** Longer than the intervals at which the agents read systemd, so that no event is at the same phase as the one before. */
const PHASE_SECONDS = 15
const SCRAPE_EVERY_MS = 100
const LINES_PER_SECOND = 1000
const WRITE_EVERY_MS = 100
/** What happens to the unit of the node that writes no lines. */
const SERVICE = 'rpc'
const ACTIONS: Readonly<Record<string, (node: SandboxedNode, unit: string) => Promise<string>>> = {
  'systemctl stop': async (node, unit) => node.systemctl('stop', unit),
  'kill -9': async (node, unit) => node.systemctl('kill', '--kill-whom=main', '--signal=KILL', unit),
  'systemctl restart': async (node, unit) => node.systemctl('restart', unit),
}

export const signals: Comparison = {
  name: 'signals',
  title: 'Seconds until the metrics show that a service ended',
  fairness: `A service of a node with real systemd is stopped, killed and restarted, ${ROUNDS} times each, at random times; consensus writes ${LINES_PER_SECOND.toLocaleString('en')} lines a second into
the journal meanwhile, and ledger-tail three blocks a second. All programs run on the same node with default intervals. A figure is the time from the command
to the first scrape (${1000 / SCRAPE_EVERY_MS} a second) in which something of the service has changed: its state or its start time, which is what rules read, or also the count of
its exits. At the end of each round all programs must have counted every line that was written.`,
  open: async (setup) => {
    const { node, agents: programs, skipped } = await openAgents(setup, startLedger, 1)
    const agents = programs.flatMap(({ exporters }) => exporters)
    for (const { url } of agents) await eventually(async () => startOf(await scrape(url)), Number.isFinite)
    const writer = await startWriter(node, agents, setup.defer)
    return {
      programs: programs.map(({ name }) => name),
      skipped,
      hasEnough: (rounds) => rounds.length >= ROUNDS,
      round: async () => {
        writer.resume()
        const figures = agents.map((): Record<string, number> => ({}))
        for (const [name, act] of Object.entries(ACTIONS)) {
          await delay(Math.random() * PHASE_SECONDS * 1000)
          for (const [index, seconds] of (await secondsToSignals(node, agents, act)).entries()) {
            for (const [signal, value] of Object.entries(seconds))
              Object.assign(figures[index] ?? {}, { [`${name}: ${signal}, s`]: value })
          }
        }
        await writer.pause()
        return figures.map((all): Take => ({ figures: all, result: 'every line that was written' }))
      },
    }
  },
}

/** Of each agent; the service runs again at the end, and all agents show its new start. */
const secondsToSignals = async (
  node: SandboxedNode,
  agents: readonly Exporter[],
  act: (node: SandboxedNode, unit: string) => Promise<unknown>,
): Promise<readonly Readonly<Record<string, number>>[]> => {
  const unit = node.unit(SERVICE)
  const before = await Promise.all(agents.map(async ({ url }) => scrape(url)))
  const began = performance.now()
  const [seconds] = await Promise.all([
    Promise.all(
      agents.map(async ({ url }, index) => {
        const last = before[index]
        const known: Record<string, number> = {}
        await eventually(
          async () => {
            const seen = await scrape(url)
            for (const [signal, series] of Object.entries(SIGNALS)) {
              if (linesOf(series, seen) !== linesOf(series, last)) known[signal] ??= (performance.now() - began) / 1000
            }
            return Object.keys(known).length
          },
          (seen) => seen === Object.keys(SIGNALS).length,
          { every: SCRAPE_EVERY_MS },
        )
        return known
      }),
    ),
    act(node, unit),
  ])
  await node.systemctl('start', unit)
  for (const [index, { url }] of agents.entries()) {
    const lastStart = startOf(before[index])
    await eventually(
      async () => scrape(url),
      (seen) => startOf(seen) > lastStart && seen.value('chain_service_state', ACTIVE) === 1,
    )
  }
  return seconds
}

const ACTIVE = { service: SERVICE, state: 'active' }

const startOf = (seen: Exposition | undefined): number =>
  seen?.value('chain_service_start_timestamp_seconds', { service: SERVICE }) ?? Number.NaN

const SIGNALS = {
  state: /^chain_service_(?:state|start_timestamp_seconds)\{/,
  'first signal': /^chain_service_(?:state|start_timestamp_seconds|exits_total)\{/,
}

/** Those of the service, as text. */
const linesOf = (series: RegExp, seen: Exposition | undefined): string =>
  (seen?.text ?? '')
    .split('\n')
    .filter((line) => series.test(line) && line.includes(`service="${SERVICE}"`))
    .join('\n')

/** Makes consensus write votes; `pause` returns when all agents have counted what was written, and throws if they have not after a minute. */
const startWriter = async (node: SandboxedNode, agents: readonly Exporter[], defer: Setup['defer']) => {
  const output = (await openPipes(node, [UNIT], defer)).get(UNIT)
  await node.systemctl('restart', UNIT)
  const count = async () =>
    Promise.all(
      agents.map(
        async ({ url }) => (await scrape(url)).value('chain_consensus_messages_total', { kind: 'vote_created' }) ?? 0,
      ),
    )
  const first = await count()
  let [written, isWriting] = [0, false]
  const timer = setInterval(() => {
    for (const end = written + (LINES_PER_SECOND * WRITE_EVERY_MS) / 1000; isWriting && written < end; written += 1) {
      output?.write(`${vote(1_000_000 + written)}\n`)
    }
  }, WRITE_EVERY_MS)
  defer(async () => {
    clearInterval(timer)
    return Promise.resolve()
  })
  return {
    resume: (): void => {
      isWriting = true
    },
    pause: async (): Promise<void> => {
      isWriting = false
      await eventually(
        async () =>
          `${written} lines written, counted: ${(await count()).map((now, index) => now - (first[index] ?? 0)).join(', ')}`,
        (text) => text === `${written} lines written, counted: ${agents.map(() => written).join(', ')}`,
        { within: 60_000 },
      )
    },
  }
}
