import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { receiving } from '../support/http.ts'
import { ledgerTotals, ledgerTruth } from '../support/ledger.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()

describe('systemctl reload chain-agent', () => {
  let node: SandboxedNode
  /** Every reference answers with the same height. */
  let server: Awaited<ReturnType<typeof receiving>>
  let rpcUrl = ''
  let block = 0
  const often = { interval: '500ms' }
  const settings = (changes: Readonly<Record<string, unknown>>) => ({
    prefix: 'monad',
    listen: `127.0.0.1:${node.port}`,
    state: { directory: join(node.directory, 'state') },
    rpc: { url: rpcUrl, ...often },
    services: often,
    reference: often,
    ...changes,
  })
  const reference = (name: string) => ({ references: [{ name, url: server.url, kind: 'rpc' }] })
  const configure = async (config: unknown): Promise<void> =>
    writeFile(join(node.directory, 'config.yaml'), JSON.stringify(config))
  const mainPid = (): Promise<string> => node.systemctl('show', '-P', 'MainPID', 'chain-agent.service')
  /** Reloads while the stream is written, and waits until every block up to its end is counted. */
  const reloadWithin = async (further: number, config: unknown): Promise<void> => {
    const from = block
    block += further
    await node.ledger.goTo(block)
    await node.ledger.reached(from + further / 4)
    await configure(config)
    await node.systemctl('reload', 'chain-agent.service')
    await node.ledger.reached(block)
    const truth = ledgerTruth(block)
    const counted = async () => ledgerTotals(await node.look())
    await eventually(counted, ({ finalized }) => finalized >= truth.finalized)
    expect(await counted()).toEqual(truth)
  }
  const up = (name: string) => ['chain_reference_up', { reference: name }] as const

  beforeAll(async () => {
    server = await receiving(200, JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x10' }))
    rpcUrl = `http://127.0.0.1:${await freePort()}`
    node = await createNode('monad')
    await configure(settings(reference('before')))
    const unit = await readFile(join(import.meta.dirname, '../../deploy/chain-agent.service'), 'utf8')
    const [line] = /^ExecReload=.*$/m.exec(unit) ?? []
    await node.writeUnit('chain-agent.service.d/reload.conf', `[Service]\n${line}\n`)
    await node.systemctl('start', 'chain-agent.service')
    await node.see(
      ({ value }) => [value(...up('before')), value('chain_agent_collector_up', { collector: 'ledger' })],
      (seen) => seen.every((one) => one === 1),
    )
    await node.systemctl('start', node.unit('ledger-tail'))
  })
  afterAll(async () => {
    await node.down()
    await server.close()
  })

  it('replaces a reference, and counts every line that is written meanwhile once', async () => {
    const pid = await mainPid()
    await reloadWithin(200, settings(reference('after')))
    const { value } = await eventually(node.look, (seen) => seen.value(...up('after')) === 1)
    expect(value(...up('before'))).toBe(undefined)
    expect(value('chain_agent_config_last_reload_successful')).toBe(1)
    expect(await mainPid()).toBe(pid)
    expect(await node.log()).toContain(
      'Configuration reloaded: applied references; collectors started or stopped: reference"',
    )
  })

  it('resumes the ledger stream from its cursor where its own settings change', async () => {
    const changes = { ...reference('after'), ledger: { unit: node.unit('ledger-tail') } }
    await reloadWithin(200, settings(changes))
    expect(await node.log()).toContain(
      'Configuration reloaded: applied ledger.unit; collectors started or stopped: ledger"',
    )
    const { value } = await node.look()
    const service = { service: 'ledger-tail' }
    expect(value('chain_agent_journal_gaps_total', service)).toBe(0)
    expect(value('chain_agent_journal_restarts_total', service)).toBe(0)
  })

  it('keeps the previous configuration where the file is invalid, and logs the line', async () => {
    const pid = await mainPid()
    const at = 'chain_agent_config_last_reload_success_timestamp_seconds'
    const before = (await node.look()).value(at)
    await writeFile(join(node.directory, 'config.yaml'), 'prefix: monad\nrefrences: []\n')
    await node.systemctl('reload', 'chain-agent.service')
    await eventually(node.log, /config\.yaml:2: no such key: refrences; did you mean references\?/)
    expect(await node.systemctl('is-active', 'chain-agent.service')).toBe('active')
    expect(await mainPid()).toBe(pid)
    // A rendering of /metrics is kept for 250 ms.
    await node.waitFor(0, 'chain_agent_config_last_reload_successful')
    const { value } = await node.look()
    expect(value(at)).toBe(before)
    expect(value(...up('after'))).toBe(1)
  })
})
