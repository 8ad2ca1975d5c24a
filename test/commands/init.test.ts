import { readFile, readlink, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { temporaryFolder } from '../support/directory.ts'
import { openHost, sharedHost } from '../support/host.ts'
import { testUsageErrors } from '../support/usage-errors.ts'

const directory = await temporaryFolder()
const KEY = '03dead85877f1c2adbc548acae96e7c98480355bc1704df841262100f3a8cfbcdd'

describe('init', async () => {
  const host = await sharedHost({ scenario: 'healthy', second: 20, agent: false })

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
    expect(out).toMatch(/^changed: .*\n {2}prefix {5}chain\n {2}own key {4}03dead/)
    expect(out).toContain('other-rpc, http://reference.simulated: block 97,647,')
    const [, page = '', guard = ''] =
      /\nNo one is notified by the agent: set `alertmanagers\.urls`\. Alerts on your phone: (\S+)\nA validator with a second host:\s(\S+)\s/.exec(
        out,
      ) ?? []
    expect(await readFile(page, 'utf8')).toContain('# Get the first message on your phone')
    expect(await readFile(guard, 'utf8')).toContain('# Refuse a start while another host signs')
    expect((await host.run(['config', '--config', file])).code).toBe(0)
  })

  test('prints the file with -, and says what is missing', async () => {
    const config = join(directory, 'keyless.yaml')
    await writeFile(config, (await readFile(host.configFile, 'utf8')).replace(/^.*publicKey.*$/m, ''))
    const settings = ['--set', 'status.enabled=false', '--set', 'references=[]']
    const { code, out } = await host.run(['init', '-o', '-', '--config', config, ...settings])
    expect(code).toBe(0)
    expect(parse(out)).toEqual({ prefix: 'chain' })
    expect(out).toContain('# Not found: run `sudo chain-agent init`, or copy secp from the output of `chain-status`.\n')
    expect(out).toContain('\n#references:\n')
  })

  test('adds to a file without settings, and keeps its comments and mode', async () => {
    const file = join(directory, 'comments.yaml')
    await writeFile(file, '# only\n\n  # comments\n', { mode: 0o600 })
    const urls = ['https://a.example/v2/KEY', 'https://a.example/b', 'http://[::1]:8545'].flatMap((url) => ['-r', url])
    const pager = 'http://pager.example:9093/KEY'
    const settings = ['--set', 'references=[]', '--alertmanager', pager]
    const { code, out } = await host.run(['init', '-o', file, ...urls, ...settings])
    expect(code).toBe(0)
    const text = await readFile(file, 'utf8')
    expect(text).toMatch(/^# only\n\n {2}# comments\n\nprefix: chain\n\nnode:\n/)
    expect(parse(text)).toEqual({
      prefix: 'chain',
      node: { publicKey: KEY },
      references: [
        { name: 'a.example', url: 'https://a.example/v2/KEY' },
        { name: 'a.example-2', url: 'https://a.example/b' },
        { name: '1', url: 'http://[::1]:8545' },
      ],
      alertmanagers: { urls: [pager] },
    })
    expect(out).not.toContain('KEY')
    expect(out).toContain('+   - { name: a.example, url: https://a.example/... }\n')
    expect(out).toMatch(/\nNo one is notified until the agent runs: pager\.example:9093 by the configuration\. Test/)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  describe('a file that has settings', () => {
    const MINE = [
      '# mine',
      'prefix: chain',
      'references:',
      '# paid',
      '- {name: a.example, url: https://a.example/}',
      'listen: :9900 # all',
      '',
    ].join('\n')
    const EXTENDED = [
      '# mine',
      'prefix: chain',
      'references:',
      '  # paid',
      '  - { name: a.example, url: https://a.example/ }',
      '  - { name: b.example, url: https://b.example/KEY }',
      'listen: :9900 # all',
      '',
      'node:',
      `  publicKey: ${KEY}`,
      '',
      'alertmanagers:',
      '  urls:',
      '    - http://pager:9093',
      '',
    ].join('\n')
    /** The references of the host are not wanted. */
    const NONE = ['--set', 'references=[]']
    const WANTED = ['-r', 'https://a.example', '-r', 'https://b.example/KEY', '--alertmanager', 'http://pager:9093']
    const put = async (name: string, text = MINE): Promise<string> => {
      const file = join(directory, name)
      await writeFile(file, text)
      return file
    }
    const lines = (out: string): readonly string[] => out.split('\n').filter((line) => /^[+-]/.test(line))

    test('gets what it lacks with --yes, and nothing the second time', async () => {
      const file = await put('mine.yaml')
      const args = ['init', '-y', '-o', file, ...NONE, ...WANTED]
      const first = await host.run(args)
      expect(first).toMatchObject({ code: 0, err: '' })
      expect(first.out).toMatch(new RegExp(`^changed: ${file}\n`))
      expect(lines(first.out)).toEqual([
        '- # paid',
        '- - {name: a.example, url: https://a.example}',
        '+   # paid',
        '+   - { name: a.example, url: https://a.example }',
        '+   - { name: b.example, url: https://b.example/... }',
        '+',
        '+ node:',
        `+   publicKey: ${KEY}`,
        '+',
        '+ alertmanagers:',
        '+   urls:',
        '+     - http://pager:9093',
      ])
      expect(await readFile(file, 'utf8')).toBe(EXTENDED)
      const second = await host.run(args)
      expect(second).toMatchObject({ code: 0, err: '' })
      expect(second.out).toMatch(new RegExp(`^unchanged: ${file}\n {2}prefix`))
      expect(second.out).not.toContain('Next:')
      expect(await readFile(file, 'utf8')).toBe(EXTENDED)
    })

    test('is shown without the lines that stay, however often they occur', async () => {
      const spaced = MINE.replace('references:', '\n\nreferences:').replace('listen:', '\n\nlisten:')
      const { code, out } = await host.run([
        'init',
        '--check',
        '-o',
        await put('spaced.yaml', spaced),
        ...NONE,
        ...WANTED,
      ])
      expect(code).toBe(3)
      expect(lines(out).slice(0, 9)).toEqual([
        '-',
        '- # paid',
        '- - {name: a.example, url: https://a.example}',
        '-',
        '+   # paid',
        '+   - { name: a.example, url: https://a.example }',
        '+   - { name: b.example, url: https://b.example/... }',
        '+',
        '+ node:',
      ])
    })

    test('is only compared with --check: exit code 3 if it would change, 0 if not', async () => {
      const file = await put('checked.yaml')
      const args = ['init', '--check', '-o', file, ...NONE, ...WANTED]
      const changing = await host.run(args)
      expect(changing).toMatchObject({ code: 3, err: '' })
      expect(changing.out).toMatch(new RegExp(`^would change: ${file}\n- # paid\n`))
      expect(changing.out).not.toContain('Next:')
      expect(await readFile(file, 'utf8')).toBe(MINE)
      await writeFile(file, EXTENDED)
      const same = await host.run(args)
      expect(same).toMatchObject({ code: 0, err: '' })
      expect(same.out).toMatch(new RegExp(`^unchanged: ${file}\n`))
      const absent = await host.run(['init', '--check', '-o', join(directory, 'absent.yaml')])
      expect(absent.code).toBe(3)
      expect(absent.out).toContain('\n+ prefix: chain\n')
      await expect(stat(join(directory, 'absent.yaml'))).rejects.toThrow('ENOENT')
    })

    test('is written after yes on a terminal, and not after another answer', async () => {
      const file = await put('asked.yaml')
      const args = ['init', '-o', file, ...NONE, ...WANTED]
      const no = await host.run(args, { stdin: 'no\n', isTyped: true })
      expect(no).toMatchObject({ code: 1, out: '' })
      expect(no.err).toContain(`+     - http://pager:9093\nWrite ${file}? Type yes: `)
      expect(no.err).toContain('Nothing was written.\n')
      expect(await readFile(file, 'utf8')).toBe(MINE)
      expect(await host.run(args, { stdin: 'yes\n', isTyped: true })).toMatchObject({ code: 0 })
      expect(await readFile(file, 'utf8')).toBe(EXTENDED)
    })

    test('without a terminal is not written without --yes', async () => {
      const file = await put('unattended.yaml')
      const { code, out, err } = await host.run(['init', '-o', file, ...WANTED])
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err).toContain('standard input is not a terminal. Use --yes')
      expect(await readFile(file, 'utf8')).toBe(MINE)
    })

    test('keeps its prefix and public key, unless an option or a variable has another', async () => {
      const [mine, other] = [`02${'ab'.repeat(32)}`, `03${'cd'.repeat(32)}`]
      const file = await put('key.yaml', `prefix:  auto\nnode: { publicKey: 0${mine.slice(1).toUpperCase()} } # mine\n`)
      const config = ['--config', file, '--set', 'rpc.url=http://rpc.simulated']
      const kept = await host.run(['init', '-y', '-o', file, ...config])
      expect(kept.out).toMatch(/^unchanged: /)
      expect(kept.out).toContain(`The status report has another public key: ${KEY}. --public-key replaces yours.`)
      await host.run(['init', '-y', '-o', file, ...config, '--public-key', other])
      expect(await readFile(file, 'utf8')).toBe(`prefix: auto\nnode: { publicKey: ${other} } # mine\n`)
      const env = { CHAIN_AGENT_PREFIX: 'chain', CHAIN_AGENT_NODE_PUBLIC_KEY: mine }
      expect(await host.run(['init', '-y', '-o', file, ...config], { env })).toMatchObject({ code: 0 })
      expect(await readFile(file, 'utf8')).toBe(`prefix: chain\nnode: { publicKey: ${mine} } # mine\n`)
    })

    test('gets the answers of the environment', async () => {
      const file = await put('environment.yaml')
      const env = {
        CHAIN_AGENT_REFERENCES: '[{ name: b, url: https://b.example, kind: query, apiKeyFile: /etc/key }]',
        CHAIN_AGENT_ALERTMANAGERS_URLS: '[http://pager:9093]',
      }
      expect((await host.run(['init', '-y', '-o', file], { env })).code).toBe(0)
      expect(parse(await readFile(file, 'utf8'))).toMatchObject({
        references: [
          { name: 'a.example', url: 'https://a.example/' },
          { name: 'b', url: 'https://b.example', kind: 'query', apiKeyFile: '/etc/key' },
        ],
        alertmanagers: { urls: ['http://pager:9093'] },
      })
    })
  })

  test('asks on a terminal for what is not known', async () => {
    const file = join(directory, 'answered.yaml')
    const stdin = 'rpc.example\nhttps://a.example\n\nhttp://pager:9093\n\n'
    const { code, err } = await host.run(['init', '-o', file, '--set', 'references=[]'], { stdin, isTyped: true })
    expect(code).toBe(0)
    expect(err).toContain('Reference 1: Expected a URL, like https://rpc.provider.example\n')
    expect(parse(await readFile(file, 'utf8'))).toMatchObject({
      references: [{ name: 'a.example', url: 'https://a.example' }],
      alertmanagers: { urls: ['http://pager:9093'] },
    })
    const interrupted = await host.run(['init', '-o', join(directory, 'none.yaml'), '--set', 'references=[]'], {
      stdin: '',
      isTyped: true,
    })
    expect(interrupted).toMatchObject({ code: 1, out: '' })
    expect(interrupted.err).toContain('Interrupted; nothing was written.\n')
  })

  test('writes the file that a symbolic link names, and keeps link and mode', async () => {
    const [file, link] = [join(directory, 'target.yaml'), join(directory, 'link.yaml')]
    await writeFile(file, '# only comments\n', { mode: 0o600 })
    await symlink('target.yaml', link)
    expect((await host.run(['init', '-o', link])).code).toBe(0)
    expect(parse(await readFile(file, 'utf8'))).toMatchObject({ prefix: 'chain' })
    expect([await readlink(link), (await stat(file)).mode & 0o777]).toEqual(['target.yaml', 0o600])
  })
})

testUsageErrors(
  ['init', '-o', '-'],
  [
    [['-r', 'rpc.example'], '--reference rpc.example: expected a URL, like https://rpc.provider.example'],
    [['--alertmanager', 'pager'], '--alertmanager pager: expected a URL, like http://127.0.0.1:9093'],
    [['--public-key', '02'], 'node.publicKey: expected a secp public key: 66 hex digits, got "02"'],
    [['--check'], '--check compares with a file, and --output - names none.'],
  ],
)

test('init on a host without a node writes nothing', async () => {
  const host = await openHost({ scenario: 'healthy', second: 0, agent: false, hasNode: false })
  const file = join(directory, 'none.yaml')
  const { code, err } = await host.run(['init', '-o', file])
  expect(code).toBe(1)
  expect(err).toContain('Could not find the node: systemd has no unit of a node with the name prefix chain')
  await expect(stat(file)).rejects.toThrow('ENOENT')
})
