import { readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from '../support/directory.ts'
import { type Host, startHost } from '../support/host.ts'

const directory = await temporaryFolder()
const KEY = '03dead85877f1c2adbc548acae96e7c98480355bc1704df841262100f3a8cfbcdd'

describe('init', () => {
  let host: Host
  beforeAll(async () => {
    host = await startHost({ scenario: 'healthy', second: 20, agent: false })
  })
  afterAll(async () => host.close())

  test('writes prefix, public key and references; the file is for the group', async () => {
    const file = join(directory, 'config.yaml')
    const { code, out, err } = await host.run(['init', '-o', file])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const text = await readFile(file, 'utf8')
    expect(parse(text)).toEqual({
      prefix: 'chain',
      node: { publicKey: KEY },
      references: [
        { name: 'other-rpc', url: 'http://reference.simulated' },
        { name: 'query-service', url: 'http://reference.simulated', kind: 'query' },
      ],
    })
    expect(text).toContain('#   chain-bft.service (active)\n')
    expect(text).toContain('#   database on /dev/nvme3n1p2\n')
    expect((await stat(file)).mode & 0o777).toBe(0o640)
    expect(out).toMatch(/^Wrote .*\n {2}prefix {5}chain\n {2}own key {4}03dead/)
    expect(out).toContain('other-rpc, http://reference.simulated: block 97,647,')
    expect(out).toMatch(
      /\nNo one is notified by the agent: set `alertmanagers\.urls`\. Test it: chain-agent alert test\.\n$/,
    )
    expect((await host.run(['config', '--config', file])).code).toBe(0)
  })

  test('prints the file with -, and says what is missing', async () => {
    const config = join(directory, 'keyless.yaml')
    await writeFile(config, (await readFile(host.configFile, 'utf8')).replace(/^.*publicKey.*$/m, ''))
    const settings = ['--set', 'status.enabled=false', '--set', 'references=[]']
    const { code, out } = await host.run(['init', '-o', '-', '--config', config, ...settings])
    expect(code).toBe(0)
    expect(parse(out)).toEqual({ prefix: 'chain' })
    expect(out).toContain(
      '# Not found: copy it from `sudo chain-agent init --output -`, or secp from the output of `chain-status`.\n',
    )
    expect(out).toContain('\n#references:\n')
  })

  test('replaces a file without settings, and keeps its mode; one with settings is not touched', async () => {
    const file = join(directory, 'mine.yaml')
    await writeFile(file, '# only\n\n  # comments\n', { mode: 0o600 })
    const urls = ['https://a.example/v2/KEY', 'https://a.example/b', 'http://[::1]:8545'].flatMap((url) => ['-r', url])
    const pager = 'http://pager.example:9093/KEY'
    const first = await host.run(['init', '-o', file, ...urls, '--set', `alertmanagers.urls=["${pager}"]`])
    expect(first.code).toBe(0)
    const text = await readFile(file, 'utf8')
    expect(parse(text)).toMatchObject({
      references: [
        { name: 'a.example', url: 'https://a.example/v2/KEY' },
        { name: 'a.example-2', url: 'https://a.example/b' },
        { name: '1', url: 'http://[::1]:8545' },
      ],
      alertmanagers: { urls: [pager] },
    })
    expect(first.out).not.toContain('KEY')
    expect(first.out).toMatch(
      /\nNo one is notified until the agent runs: pager\.example:9093 by the configuration\. Test/,
    )
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const second = await host.run(['init', '-o', file])
    expect(second).toMatchObject({ code: 2, out: '' })
    expect(second.err).toContain(`${file} has settings: \`chain-agent config\` prints them.`)
    expect(await readFile(file, 'utf8')).toBe(text)
  })

  test('writes the file that a symbolic link names, and keeps link and mode', async () => {
    const [file, link] = [join(directory, 'target.yaml'), join(directory, 'link.yaml')]
    await writeFile(file, '# only comments\n', { mode: 0o600 })
    await symlink('target.yaml', link)
    expect((await host.run(['init', '-o', link])).code).toBe(0)
    expect(parse(await readFile(file, 'utf8'))).toMatchObject({ prefix: 'chain' })
    expect([await readlink(link), (await stat(file)).mode & 0o777]).toEqual(['target.yaml', 0o600])
  })

  test('a reference that is no URL is a usage error before anything is read', async () => {
    const { code, err } = await host.run(['init', '-o', '-', '-r', 'rpc.example'])
    expect(code).toBe(2)
    expect(err).toContain('--reference rpc.example: expected a URL, like https://rpc.provider.example')
  })
})

test('init on a host without a node writes nothing', async () => {
  const host = await startHost({ scenario: 'healthy', second: 0, agent: false, hasNode: false })
  const file = join(directory, 'none.yaml')
  const { code, err } = await host.run(['init', '-o', file])
  await host.close()
  expect(code).toBe(1)
  expect(err).toContain('Could not find the node: systemd has no unit of a node with the name prefix chain')
  await expect(stat(file)).rejects.toThrow('ENOENT')
})
