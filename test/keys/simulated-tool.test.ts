import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { createKeyedNode } from '../support/keyed-node.ts'
import { type KeystoreBehaviour, KEYSTORE_VERSIONS, placeKeystoreTool } from '../support/keystore-tool.ts'
import { run, start } from '../support/programs.ts'

let node: Awaited<ReturnType<typeof createKeyedNode>>
beforeEach(async () => {
  node = await createKeyedNode()
})
afterEach(async () => node.remove())

const place = async (behaviour: KeystoreBehaviour, version = '0.16.1') =>
  placeKeystoreTool({ directory: node.bin, behaviour, version, isLogged: true })
const BARE = { extendEnv: false, env: {} }
const recovering = (path: string) => [
  'recover',
  '--password',
  node.password,
  '--keystore-path',
  path,
  '--key-type',
  'secp',
]

describe('the simulated keystore tool, as a program', () => {
  test.each(KEYSTORE_VERSIONS)('v%s opens the keystores of its node', async (version) => {
    const old = await createKeyedNode({ root: node.root, keystoreVersion: 1 })
    const { path, calls } = await place('normal', version)
    const { stdout, code } = await run(path, recovering(old.keystores.secp), BARE)
    expect(code).toBe(0)
    expect(stdout).toContain(`Secp public key: ${old.keys.secp.publicKey}`)
    expect(stdout.includes(old.secrets.secp)).toBe(true)
    expect(await calls()).toEqual([recovering(old.keystores.secp)])
  })

  test.each([
    ['normal', [true, 1]],
    ['exits-0-with-nothing', [false, 0]],
    ['short-secret', [false, 1]],
    ['two-secrets', [true, 2]],
    ['disk-full', [true, 1]],
    ['other-secret', [true, 1]],
    ['no-newline', [true, 1]],
  ] as const)('%s: whether the secret is printed, and the number of secret lines', async (name, expected) => {
    const { path } = await place(name)
    const { stdout, stderr, code } = await run(path, recovering(node.keystores.secp), BARE)
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.split('\n').filter((line) => line.startsWith('Keystore secret: '))
    const isThere = lines.includes(`Keystore secret: ${node.secrets.secp}`)
    expect([isThere, lines.length]).toEqual(expected)
  })

  test('an imported keystore can contain another key, be empty, or be absent', async () => {
    const made = async (name: KeystoreBehaviour) => {
      const { path } = await place(name)
      const at = join(node.config, name)
      const words = ['--ikm', node.secrets.secp, ...recovering(at).slice(1)]
      const { code } = await run(path, ['import', ...words], BARE)
      const bytes = await stat(at).then(
        ({ size }) => size > 0,
        () => 'none',
      )
      await place('normal')
      const recovered = await run(path, recovering(at), BARE)
      return [code, bytes, recovered.code, recovered.stdout.includes(node.secrets.secp)]
    }
    expect(await made('normal')).toEqual([0, true, 0, true])
    expect(await made('other-secret')).toEqual([0, true, 0, false])
    expect(await made('disk-full')).toEqual([1, false, 1, false])
    expect(await made('exits-0-with-nothing')).toEqual([0, 'none', 1, false])
  })

  test('mad prints without end; hang ignores SIGTERM', async () => {
    const mad = start((await place('mad')).path, recovering(node.keystores.secp), BARE)
    await eventually(
      () => mad.output().length,
      (length) => length > 5_000_000,
    )
    await mad.stop()
    const hanging = start((await place('hang')).path, recovering(node.keystores.secp), BARE)
    await eventually(hanging.output, (output) => output !== '')
    process.kill(hanging.pid, 'SIGTERM')
    await eventually(hanging.output, (output) => output.endsWith('not yet\n'))
    await hanging.stop('SIGKILL')
  })
})
