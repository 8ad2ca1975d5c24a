import { readFileSync } from 'node:fs'
import { chmod, copyFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { closed, committed, line, vote } from '../collectors/consensus-log.ts'
import { eventually } from '../support/eventually.ts'
import { createNode, requireSandbox, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const FIXTURES = join(import.meta.dirname, '../fixtures')
const read = (file: string): unknown => JSON.parse(readFileSync(join(FIXTURES, file), 'utf8'))

/** What the tables say by hand of each version: a few figures that must come out as series. */
const number = z
  .union([z.string(), z.number()])
  .nullable()
  .transform((value) => (value === null ? undefined : Number(value)))
const storage = z
  .record(
    z.string(),
    z.object({
      devices: z.array(z.object({ path: z.string(), usedRatio: z.number() })),
      lists: z.object({ free: z.object({ chunks: z.number() }).nullable() }),
      timelines: z.object({ primary: z.object({ earliestBlock: number }).nullable() }),
      historyMaxBlocks: number,
      latestBlock: z.object({ finalized: number, verified: number }),
    }),
  )
  .parse(read('mpt/expected.json'))
const status = z
  .record(
    z.string(),
    z.object({
      header: z.object({ uptimeSeconds: number }),
      consensus: z.object({ blockNumber: number, epoch: number }),
      rpc: z.object({ blockNumber: number }),
    }),
  )
  .parse(read('status/expected.json'))

describe.each(['chain', 'monad'])('the tools of a node named %s, in every version', (prefix) => {
  let node: SandboxedNode
  const often = { interval: '200ms', timeout: '2s' }
  /** Makes the tool print that file from now on. */
  const speak = async (tool: string, fixture: string): Promise<void> => {
    const file = join(node.directory, `${tool}.txt`)
    await copyFile(join(FIXTURES, fixture), `${file}.new`)
    await rename(`${file}.new`, file)
  }

  beforeAll(async () => {
    const off = { enabled: false }
    node = await createNode(prefix, {
      config: {
        rpc: off,
        services: often,
        lifecycle: often,
        ledger: often,
        storage: often,
        status: often,
      },
    })
    for (const tool of ['mpt', 'status']) {
      const program = join(node.directory, 'bin', `${prefix}-${tool}`)
      await writeFile(program, `#!/bin/sh\nexec cat ${node.directory}/${tool}.txt\n`)
      await chmod(program, 0o755)
      await speak(tool, tool === 'mpt' ? 'mpt/e-single.txt' : 'status/v0.12.txt')
    }
    await node.startAgent()
    return node.down
  })

  it.each(Object.entries(storage))('storage: %s', async (fixture, expected) => {
    await speak('mpt', `mpt/${fixture}`)
    const wanted = {
      ratios: expected.devices.map(({ usedRatio }) => usedRatio),
      free: expected.lists.free?.chunks,
      earliest: expected.timelines.primary?.earliestBlock,
      max: expected.historyMaxBlocks,
      finalized: expected.latestBlock.finalized,
      verified: expected.latestBlock.verified,
    }
    const seen = await node.see(
      ({ value }) => ({
        ratios: expected.devices.map(({ path }) => value('chain_storage_used_ratio', { device: path })),
        free: value('chain_storage_chunks', { list: 'free' }),
        earliest: value('chain_storage_history_earliest_block', { timeline: 'primary' }),
        max: value('chain_storage_history_max_blocks'),
        finalized: value('chain_storage_latest_block', { state: 'finalized' }),
        verified: value('chain_storage_latest_block', { state: 'verified' }),
      }),
      (now) => JSON.stringify(now) === JSON.stringify(wanted),
    )
    expect(seen).toEqual(wanted)
  })

  it.each(Object.entries(status))('status: %s', async (fixture, expected) => {
    await speak('status', `status/${fixture}`)
    const wanted = [
      expected.header.uptimeSeconds,
      expected.consensus.blockNumber,
      expected.consensus.epoch,
      expected.rpc.blockNumber,
    ]
    const names = ['uptime_seconds', 'block_number', 'epoch', 'rpc_block_number']
    const seen = await node.see(
      ({ value }) => names.map((name) => value(`chain_status_${name}`)),
      (now) => JSON.stringify(now) === JSON.stringify(wanted),
    )
    expect(seen).toEqual(wanted)
  })

  it('counts each line of the consensus log once, through real --grep and an end of the agent', async () => {
    const noise = line('vote message', { vote: 'Vote { id: 1a..2b }' })
    const say = async (from: number, to: number): Promise<void> => {
      const lines = Array.from({ length: to - from }, (_, at) => [
        committed(from + at),
        closed(from + at),
        ...Array.from({ length: 20 }, () => noise),
      ])
      await writeFile(join(node.directory, 'log.txt'), `${lines.flat().join('\n')}\n`)
      await node.systemctl('restart', node.unit('bft'))
    }
    const script = `${node.directory}/log.sh`
    // As on a node, the log does not end: a line that the follower receives, of another kind, once per second. Without
    // one, a follower that journalctl has stopped serving cannot be told from a quiet unit.
    await writeFile(join(node.directory, 'rest.txt'), `${vote(2000)}\n`)
    const rest = `while sleep 1; do cat ${node.directory}/rest.txt; done`
    await writeFile(script, `#!/bin/sh\ncat ${node.directory}/log.txt\n${rest}\n`)
    await chmod(script, 0o755)
    await node.writeUnit(`${prefix}-bft.service`, `[Service]\nExecStart=${script}\n`)
    const kinds = ['committed_block', 'round_advanced'] as const
    const counted = (total: number) =>
      node.see(
        ({ value }) => kinds.map((kind) => value('chain_consensus_messages_total', { kind }) ?? 0),
        (now) => now.every((count) => count === total),
      )
    // What was logged before the follower started is not counted.
    await node.waitFor(1, 'chain_agent_collector_up', { collector: 'consensus' })
    await eventually(node.calls, (calls) =>
      calls.some((call) => call.startsWith('journalctl --follow') && call.includes('committed block')),
    )
    // The first entries that match may all be in the journal when the follower looks again, on a busy machine.
    const signal = (name: string) =>
      node.systemctl('kill', '--kill-whom=all', `--signal=${name}`, 'chain-agent.service')
    await signal('STOP')
    await say(1000, 1030)
    const inJournal = () => node.exec('journalctl', ['-u', node.unit('bft'), '--grep=committed block'])
    await eventually(inJournal, ({ stdout }) => stdout.split('\n').length >= 30)
    await signal('CONT')
    expect(await counted(30)).toEqual([30, 30])
    await node.systemctl('stop', 'chain-agent.service')
    await say(1030, 1050)
    await node.systemctl('start', 'chain-agent.service')
    // The counts are saved with the position, and continue.
    expect(await counted(50)).toEqual([50, 50])
    const { value } = await node.look()
    expect(value('chain_agent_lines_total', { format: 'consensus-log', result: 'unparsed' })).toBe(0)
  })
})
