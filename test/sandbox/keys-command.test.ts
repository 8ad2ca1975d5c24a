import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, it } from 'vitest'
import { openKeystore } from '../../simulator/keystore/keystore-file.ts'
import { placeKeystoreTool } from '../support/keystore-tool.ts'
import { requireSandbox } from '../support/real-parts.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'

const describe = await requireSandbox()
const SECRET = 'ab12'.repeat(16)
const PASSWORD = 'of the sandbox'

describe('the command that restores keys, under a real systemd', () => {
  let node: SandboxedNode
  const restore = async (...argv: readonly string[]) => {
    const path = `PATH=${node.directory}/tool:/usr/bin:/bin`
    const command = node.commandLine('keys', 'restore', '--type', 'secp', '--yes', ...argv)
    return node.exec('/usr/bin/env', [path, ...command])
  }
  const files = async (): Promise<readonly string[]> => readdir(join(node.directory, 'node/config'))
  const restored = async (): Promise<string> => {
    const text = await readFile(join(node.directory, 'node/config/id-secp'), 'utf8')
    return openKeystore(text, PASSWORD).secret.toString('hex')
  }

  beforeAll(async () => {
    // The directory is known when the node is there: its files are told on the command line.
    node = await createNode('chain')
    const places = {
      directory: join(node.directory, 'node'),
      environmentFile: join(node.directory, '.env'),
      backupDirectory: join(node.directory, 'backup'),
    }
    await writeFile(join(node.directory, 'config.yaml'), JSON.stringify({ prefix: 'chain', node: places }))
    await placeKeystoreTool({ directory: join(node.directory, 'tool') })
    await mkdir(join(node.directory, 'node/config'), { recursive: true })
    await mkdir(join(node.directory, 'backup'), { mode: 0o700 })
    await writeFile(places.environmentFile, `KEYSTORE_PASSWORD='${PASSWORD}'\n`, { mode: 0o600 })
    await writeFile(join(node.directory, 'backup/secp-backup'), `Keystore secret: ${SECRET}\n`)
    await node.systemctl('start', node.unit('bft'))
    return node.down
  })

  it('refuses while the consensus service runs, and says how to stop it', async () => {
    const { code, stdout, stderr } = await restore()
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('chain-bft.service is active')
    expect(stderr).toContain('sudo systemctl stop chain-bft.service')
    expect(stderr).toContain('--while-running')
    expect(await files()).toEqual([])
  })

  it('does it where the service is stopped', async () => {
    await node.systemctl('stop', node.unit('bft'))
    const ended = await restore()
    expect(ended, ended.stderr).toMatchObject({ code: 0 })
    expect(await files()).toEqual(['id-secp'])
    expect(await restored()).toBe(SECRET)
  })
})
