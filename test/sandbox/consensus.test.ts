import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { closed, committed, line, vote } from '../collectors/consensus-log.ts'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()

describe('the log of consensus in a real journal', () => {
  let node: SandboxedNode

  beforeAll(async () => {
    const config = { rpc: { enabled: false }, services: { interval: '200ms' } }
    node = await createNode('monad', { config })
    await node.startAgent()
    return node.down
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
    await node.writeUnit(node.unit('bft'), `[Service]\nExecStart=${script}\n`)
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
