import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from '../support/eventually.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const BLOCKS_A_SECOND = 10

/** Says of each block that it is committed, among lines that say nothing; a long one now and then. */
const SPEAKER = `
const say = (message, fields, level = 'DEBUG', target = 'chain_consensus_state') =>
  process.stdout.write(JSON.stringify({ timestamp: new Date().toISOString(), level, fields: { message, ...fields }, target }) + '\\n')
let block = 1000
setInterval(() => {
  block += 1
  say('committed block', { num_tx: 3, block_num: block }, 'INFO', 'chain_ledger')
  say('sending vote', { round: String(block), vote: 'Vote { id: 1a..2b }' })
  say('vote message', { from: '198.51.100.7', keystore_password: 'hunter2hunter2', more: '\\u001b[31m' })
  if (block % 10 === 0) say('proposal message', { author: '02a1', proposal: 'ProposalMessage { proposal_round: ' + block + ', proposal_epoch: 7, seq_num: ' + block + ', ' + 'x'.repeat(60000) + ' }' })
}, ${1000 / BLOCKS_A_SECOND})
`

const reportSchema = z.looseObject({
  window: z.looseObject({ lines: z.number(), unreadable: z.number() }),
  block: z.string().nullable(),
  committing: z.boolean().nullable(),
})

describe('monlog, on real journald', () => {
  let node: SandboxedNode

  const monlog = async (...args: readonly string[]) => node.run('monlog', ...args)
  const as = async (groups: readonly string[], ...args: readonly string[]) =>
    node.exec('setpriv', ['--reuid=nobody', '--regid=nogroup', ...groups, ...node.commandLine('monlog', ...args)])
  const first = ({ stdout }: { readonly stdout: string }): string => stdout.split('\n')[0] ?? ''
  const read = (text: string) => reportSchema.parse(JSON.parse(text))
  /** A time before which no entry is added: journald writes an entry some time after its timestamp. */
  const writtenUntil = async (): Promise<string> => {
    const until = new Date().toISOString()
    await node.exec('journalctl', ['--sync'])
    return until
  }

  beforeAll(async () => {
    const off = { enabled: false }
    node = await createNode('chain', { config: { rpc: off } })
    await writeFile(join(node.directory, 'speaker.mjs'), SPEAKER)
    const start = `${process.execPath} ${node.directory}/speaker.mjs`
    await node.writeUnit('chain-bft.service', `[Service]\nExecStart=${start}\n`)
    await node.systemctl('start', 'chain-bft.service')
    await eventually(
      async () => read((await monlog('--json')).stdout).window.lines,
      (lines) => lines > 5 * BLOCKS_A_SECOND,
    )
    return node.down
  })

  it('says first that blocks are committed, to root; of now, after the state of a node without execution and RPC', async () => {
    const now = await monlog()
    expect({ code: now.code, stderr: now.stderr }).toEqual({ code: 2, stderr: '' })
    expect(first(now)).toMatch(/^(?:CRITICAL|UNKNOWN): /)
    expect(now.stdout).toContain('\nLOG: blocks were processed and committed.\n')
    const { code, stdout, stderr } = await monlog('--until', await writtenUntil())
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(first({ stdout })).toBe('LOG: blocks were processed and committed.')
    expect(stdout).toMatch(/^ {2}block {6}1,\d{3}$/m)
    expect(stdout).toMatch(/^ {2}committed {2}yes/m)
  })

  it('says the same of the same instant, and of a file of the journal', async () => {
    const until = await writtenUntil()
    const { stdout } = await monlog('--json', '--until', until)
    const report = read(stdout)
    expect(report).toMatchObject({ committing: true, window: { unreadable: 0 } })
    expect((await monlog('--json', '--until', until)).stdout).toBe(stdout)
    const file = join(node.directory, 'journal.json')
    const dump = 'exec journalctl -u chain-bft.service --all -o json --no-pager > "$0"'
    await node.exec('sh', ['-c', dump, file])
    const ofFile = read((await monlog('--json', '--until', until, '--file', file)).stdout)
    const facts = { source: 'file', unit: null, package: null }
    expect(ofFile).toEqual({ ...report, ...facts })
  })

  it('prints advice for an unprivileged user, and the log for a member of the group', async () => {
    const outsider = await as(['--clear-groups'])
    expect(outsider.code).toBe(2)
    expect(outsider.stdout).toMatch(/^LOG: could not read the journal: this user may not read it\.$/m)
    expect(outsider.stdout).toContain('log in again')
    const until = await writtenUntil()
    const member = await as(['--groups=systemd-journal'], '--until', until)
    expect(member.code).toBe(0)
    expect(member.stdout).toBe((await monlog('--until', until)).stdout)
  })
})
