import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { ledgerTruth } from '../support/ledger.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const documentSchema = z.object({
  events: z.array(z.object({ event: z.string(), seqNum: z.string().optional() })),
  summary: z.looseObject({}),
})

describe('the ledger command, under a real journald', () => {
  let node: SandboxedNode
  const ledger = async (...argv: readonly string[]) => node.run('ledger', ...argv)
  const document = async (...argv: readonly string[]) =>
    documentSchema.parse(JSON.parse((await ledger('--json', ...argv)).stdout))

  beforeAll(async () => {
    node = await createNode('zephyr')
    await node.systemctl('start', node.unit('ledger-tail'))
    await node.ledger.goTo(95)
    await node.ledger.reached(95)
    await eventually(
      async () => (await ledger('--json', '-n', '1')).stdout,
      (out) => out !== '' && documentSchema.parse(JSON.parse(out)).events.at(-1)?.seqNum === '95',
    )
    return node.down
  })

  it('tells of every block and every skipped round, as they were', async () => {
    const truth = ledgerTruth(95)
    const { events, summary } = await document('--since', '1h')
    expect(events.filter(({ event }) => event === 'proposed').map(({ seqNum }) => seqNum)).toEqual(
      Array.from({ length: 95 }, (_, at) => `${at + 1}`),
    )
    expect(summary).toMatchObject({
      blocks: truth.proposed,
      finalized: truth.finalized,
      transactions: `${truth.transactions}`,
      skipped: `${truth.skipped}`,
      unseen: '0',
      unparsed: 0,
    })
  })

  it('follows, each block once, until it is interrupted', async () => {
    const [out, pid] = ['followed', 'pid'].map((name) => join(node.directory, name))
    const words = node.commandLine('ledger', '-f', '--json', '-n', '5').join(' ')
    const following = node.exec('sh', ['-c', `echo $$ > ${pid}; exec ${words} > ${out}`])
    const blocks = async () =>
      (await readFile(out ?? '', 'utf8').catch(() => ''))
        .split('\n')
        .filter((line) => line.includes('"proposed"'))
        .map((line) => /"seqNum":"(\d+)"/.exec(line)?.[1])
    await eventually(blocks, (seen) => seen.length === 5)
    await node.ledger.goTo(140)
    await eventually(blocks, (seen) => seen.at(-1) === '140')
    expect(await blocks()).toEqual(Array.from({ length: 50 }, (_, at) => `${at + 91}`))
    await node.exec('kill', ['-INT', (await readFile(pid ?? '', 'utf8')).trim()])
    expect(await following).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await node.exec('pgrep', ['-f', 'journalctl.*zephyr-ledger-tail'])).stdout).toBe('')
  })

  it('has nothing to show of a stretch without blocks, and says what to do', async () => {
    const { code, stderr } = await ledger('--until', '2020-01-01')
    expect(code).toBe(1)
    expect(stderr).toContain('check that the service ledger-tail is running')
  })
})
