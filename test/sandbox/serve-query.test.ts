import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { freePort } from '../support/free-port.ts'
import { type RpcNode, startRpcNode } from '../support/rpc-node.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createSandbox, type Sandbox } from '../support/sandbox.ts'

const describe = await requireSandbox()
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NAME = 'chain-agent-serve-query.service'
const CONFIG = '/etc/chain-agent/query-service.yaml'

describe('the unit of the query service in deploy/', () => {
  let sandbox: Sandbox
  let node: RpcNode
  let api: string
  const height = async (): Promise<string> => {
    try {
      return await (await fetch(`${api}/height`)).text()
    } catch (error) {
      return `${String(error)}\n${await sandbox.shell(`journalctl -u ${NAME} -o cat --no-pager -n 20`)}`
    }
  }
  const heightIs = async (block: number): Promise<string> =>
    eventually(height, (seen) => seen === `{"height":${block}}`)

  /** As docs/how-to/query-service.md installs it, but for the package itself, which is put in place by a bind. */
  beforeAll(async () => {
    node = await startRpcNode()
    const [listen, metricsListen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
    api = `http://${listen}`
    sandbox = await createSandbox({ units: () => ({}), binds: [ROOT] })
    await sandbox.deploy(NAME)
    await sandbox.install('chain-query')
    await sandbox.writeUnit(`${NAME}.d/soon.conf`, '[Service]\nRestartSec=100ms')
    // JSON is YAML. The blocks of this chain are years old.
    const config = {
      rpc: { url: node.url },
      serveQuery: { listen, metricsListen, retentionBlocks: 1000, behindAfter: 'never' },
    }
    await sandbox.shell(`
      printf '%s' '${JSON.stringify(config)}' > ${CONFIG}
      chgrp chain-query ${CONFIG} && chmod 640 ${CONFIG}`)
    await sandbox.systemctl('start', NAME)
  })
  afterAll(async () => {
    await sandbox.down()
    await node.close()
  })

  it('runs as a user of its own, keeps its store closed, and comes after the node', async () => {
    await heightIs(10)
    const pid = await sandbox.systemctl('show', '-P', 'MainPID', NAME)
    expect(await sandbox.shell(`ps -o user:20=,ni= -p ${pid}`)).toMatch(/^chain-query +15$/)
    expect(await sandbox.shell(`cat /proc/${pid}/oom_score_adj`)).toBe('700')
    const place = '/var/lib/chain-agent-serve-query'
    expect(await sandbox.shell(`stat -c '%U %a' ${place}`)).toBe('chain-query 700')
    expect(await sandbox.shell(`find ${place} -perm /077 -o ! -user chain-query`)).toBe('')
  })

  it('resumes where it was after kill -9', async () => {
    node.chain.setHeight(15)
    await heightIs(15)
    await sandbox.systemctl('kill', '--kill-whom=main', '--signal=KILL', NAME)
    node.chain.setHeight(20)
    await heightIs(20)
    expect(await sandbox.systemctl('show', '-P', 'NRestarts', NAME)).toBe('1')
  })

  it('is not started again over a configuration that cannot be used', async () => {
    await sandbox.shell(`printf '%s' '{"serveQuery":{}}' > ${CONFIG}`)
    await sandbox.systemctl('restart', NAME)
    await sandbox.shell(`while [ "$(systemctl show -P ActiveState ${NAME})" = active ]; do sleep 0.1; done`)
    const shown = await sandbox.systemctl('show', '-P', 'ExecMainStatus', '-P', 'NRestarts', NAME)
    expect(shown.split(/\s+/)).toEqual(['0', '2'])
    expect(await sandbox.shell(`journalctl -u ${NAME} -o cat --no-pager -n 20`)).toContain('--retention')
  })

  it('has nothing that systemd complains of', async () => {
    expect(await sandbox.verify(NAME)).toEqual([])
  })
})
