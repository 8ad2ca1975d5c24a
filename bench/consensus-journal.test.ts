import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { line } from '../test/collectors/consensus-log.ts'
import { createNode, type SandboxedNode } from '../test/support/sandboxed-node.ts'

const SECONDS = 60
const LINES_PER_SECOND = 5500

/** Prints a block's worth of our messages among noise, in slices of a tenth of a second. */
const writer = (noise: string): string => `
const noise = ${JSON.stringify(noise)}
const say = (message, fields, level = 'DEBUG', target = 'chain_consensus_state') =>
  JSON.stringify({ timestamp: new Date().toISOString(), level, fields: { message, ...fields }, target })
let round = 1000
let owed = 0
let before = Date.now()
setInterval(() => {
  const now = Date.now()
  owed += ((now - before) * ${LINES_PER_SECOND}) / 1000
  before = now
  const lines = Array.from({ length: Math.floor(owed) }, () => noise)
  owed -= lines.length
  if (lines.length > 20) {
    round += 1
    lines[3] = say('committed block', { num_tx: 3, block_num: round }, 'INFO', 'chain_ledger')
    lines[7] = say('sending vote', { round: String(round), vote: 'Vote { id: 1a..2b }' })
  }
  process.stdout.write(lines.join('\\n') + '\\n')
}, 100)
`

/** What anybody would write first: follow, and parse every line, both envelopes. */
const FOLLOWER = `
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
const unit = process.argv[2]
const child = spawn('journalctl', ['-f', '-n', '0', '-o', 'json', '-u', unit], { stdio: ['ignore', 'pipe', 'inherit'] })
let committed = 0
for await (const text of createInterface({ input: child.stdout })) {
  const { MESSAGE } = JSON.parse(text)
  if (typeof MESSAGE !== 'string' || MESSAGE[0] !== '{') continue
  if (JSON.parse(MESSAGE).fields.message === 'committed block') committed += 1
}
`

const cpu = async (node: SandboxedNode, unit: string): Promise<number> =>
  Number(await node.systemctl('show', '-P', 'CPUUsageNSec', unit)) / 1e9

const memory = async (node: SandboxedNode, unit: string): Promise<string> => {
  const script = `main=$(systemctl show -P MainPID ${unit}); ps -o rss=,comm= -p $main --ppid $main`
  return (await node.exec('sh', ['-c', script])).stdout.trim().split('\n').join('; ')
}

test('5,500 lines a second through journald: the agent against a follower that parses all', async () => {
  const off = { enabled: false }
  const node = await createNode('chain', {
    config: { rpc: off, services: off, lifecycle: off, ledger: off, storage: off, status: off },
  })
  try {
    await writeFile(
      join(node.directory, 'writer.mjs'),
      writer(line('vote message', { vote: `Vote { ${'signature: 8e01c5b0141d3e66, '.repeat(12)} }` })),
    )
    await writeFile(join(node.directory, 'follower.mjs'), FOLLOWER)
    const run = (script: string): string => `[Service]\nExecStart=${process.execPath} ${node.directory}/${script}\n`
    await node.writeUnit('chain-bft.service', run('writer.mjs'))
    await node.writeUnit('follower.service', run('follower.mjs chain-bft.service'))
    await node.systemctl('start', 'chain-bft.service', 'chain-agent.service', 'follower.service')
    const committed = { kind: 'committed_block' }
    await node.see(
      ({ value }) => value('chain_consensus_messages_total', committed),
      (count) => (count ?? 0) > 20,
    )
    const units = ['chain-agent.service', 'follower.service'] as const
    const before = await Promise.all(units.map((unit) => cpu(node, unit)))
    const count = async (): Promise<number> =>
      (await node.look()).value('chain_consensus_messages_total', committed) ?? Number.NaN
    const blocks = await count()
    await delay(SECONDS * 1000)
    const counted = (await count()) - blocks
    const after = await Promise.all(units.map((unit) => cpu(node, unit)))
    const [agent = Number.NaN, follower = Number.NaN] = after.map(
      (used, at) => ((used - (before[at] ?? Number.NaN)) / SECONDS) * 100,
    )
    console.log({
      linesPerSecond: LINES_PER_SECOND,
      committedBlocksPerSecond: counted / SECONDS,
      agentPercentOfOneCore: agent,
      followerPercentOfOneCore: follower,
      ratio: agent / follower,
      agentMemory: await memory(node, 'chain-agent.service'),
      followerMemory: await memory(node, 'follower.service'),
    })
    expect(counted).toBeGreaterThan(0)
  } finally {
    await node.down()
  }
})
