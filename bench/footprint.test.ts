import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { systemClock } from '../src/core/clock.ts'
import { loadScenario } from '../src/simulator/scenario/scenario.ts'
import { createSimulator } from '../src/simulator/simulator.ts'
import { debianPackage } from '../test/support/debian.ts'
import { eventually } from '../test/support/eventually.ts'
import { freePort } from '../test/support/free-port.ts'
import { start } from '../test/support/programs.ts'
import { createNode, type SandboxedNode } from '../test/support/sandboxed-node.ts'

const SECONDS = 60
const SCRAPES = 300

/** Times of one scrape after the other, in milliseconds, and the number of series. */
const scrape = async (url: string) => {
  const times: number[] = []
  let series = 0
  for (let count = 0; count < SCRAPES; count += 1) {
    const began = performance.now()
    const text = await (await fetch(url)).text()
    times.push(performance.now() - began)
    series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(share * (SCRAPES - 1))] ?? Number.NaN
  return { median: at(0.5), p99: at(0.99), series }
}

/** Resident kilobytes of the agent and of its children, as `ps` tells. */
const memory = async (node: SandboxedNode): Promise<string> => {
  const script = 'main=$(systemctl show -P MainPID chain-agent.service); ps -o rss=,comm= -p $main --ppid $main'
  return (await node.exec('sh', ['-c', script])).stdout
}

const cpuSeconds = async (node: SandboxedNode, unit: string): Promise<number> =>
  Number(await node.systemctl('show', '-P', 'CPUUsageNSec', unit)) / 1e9

/** Real systemd and journald, the default intervals, three blocks a second; node_exporter as the peer. */
test('the footprint of the agent', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'chain-agent-bench-'))
  const simulator = await createSimulator({
    clock: systemClock,
    prefix: 'chain',
    scenario: await loadScenario('healthy'),
    directory,
    rpcPort: 0,
    referencePort: 0,
  })
  const node = await createNode('chain', {
    millisecondsPerBlock: 333,
    config: {
      rpc: { url: simulator.rpcUrl },
      references: [{ name: 'a', url: simulator.referenceUrl }],
      node: { publicKey: `02${'0'.repeat(64)}` },
    },
  })
  const peerPort = await freePort()
  const peerUrl = `http://127.0.0.1:${peerPort}/metrics`
  const program = join(await debianPackage('prometheus-node-exporter'), 'usr/bin/prometheus-node-exporter')
  const peer = start(program, [`--web.listen-address=127.0.0.1:${peerPort}`])
  try {
    for (const service of ['bft', 'execution', 'rpc', 'ledger-tail']) {
      await node.systemctl('start', node.unit(service))
    }
    await node.ledger.goTo(10_000)
    await node.startAgent()
    await eventually(
      async () => (await fetch(peerUrl)).ok,
      (ok) => ok,
    )
    const blocks = async (): Promise<number> =>
      (await node.look()).value('chain_ledger_seq_num', { event: 'proposed' }) ?? Number.NaN
    const [cpu, height] = [await cpuSeconds(node, 'chain-agent.service'), await blocks()]
    await delay(SECONDS * 1000)
    const cpuPercent = ((await cpuSeconds(node, 'chain-agent.service')) - cpu) / SECONDS
    const blocksPerSecond = ((await blocks()) - height) / SECONDS
    const ours = await scrape(`http://127.0.0.1:${node.port}/metrics`)
    const theirs = await scrape(peerUrl)
    console.log({
      blocksPerSecond,
      cpuOfOneCore: `${(cpuPercent * 100).toFixed(2)} % (agent and all children)`,
      residentKilobytes: await memory(node),
      scrape: ours,
      nodeExporter: theirs,
      scrapeRatio: ours.median / theirs.median,
    })
    expect(blocksPerSecond).toBeGreaterThan(0)
  } finally {
    await peer.stop()
    await node.down()
    await simulator.close()
    await rm(directory, { recursive: true })
  }
})
