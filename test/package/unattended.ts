import { writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { expect, it } from 'vitest'
import { OLD_CONFFILE, versionWithConffile } from '../support/deb.ts'
import { must } from '../support/programs.ts'
import type { SandboxedNode } from '../support/sandboxed-node.ts'

const SLOW = 1_800_000

interface Hosts {
  /** A host without the package. */
  readonly host: () => SandboxedNode
  /** The package of the agent. */
  readonly deb: () => string
}

/** What the host has in /etc/chain-agent: name, owner and mode of each file, then the content of all. */
export const configurationOf = async (host: SandboxedNode): Promise<string> => {
  const script = 'cd /etc/chain-agent; stat -c "%n %U:%G %a" -- * || :; cat -- * || :; echo END'
  return (await host.exec('sh', ['-euc', script])).stdout
}

/** The content of the only file. */
const textOf = (configuration: string): string => configuration.replace(/^.*\n/, '').replace(/\nEND$/, '')

/** `apt-get` without a terminal, and without a setting that answers questions. Returns its output. */
export const aptGet = async (host: SandboxedNode, ...args: readonly string[]): Promise<string> => {
  const script = 'cd "$0"; exec setsid apt-get -y --no-install-recommends "$@" < /dev/null 2>&1'
  const { code, stdout } = await host.exec('sh', ['-euc', script, host.directory, ...args], { timeout: SLOW })
  expect(code, stdout).toBe(0)
  expect(stdout).not.toMatch(/conffile|Configuration file/)
  return stdout
}

/** Installations, upgrades and downgrades as a program runs them. The tests depend on each other. */
export const itNeedsNoTerminal = ({ host, deb }: Hosts): void => {
  let [earlier, current] = ['', '']
  const isActive = async (): Promise<void> => {
    expect(await host().systemctl('is-active', 'chain-agent')).toBe('active')
    expect((await host().look()).value('process_start_time_seconds')).toBeGreaterThan(0)
  }
  const install = async (file: string): Promise<string> => aptGet(host(), 'install', '--allow-downgrades', `./${file}`)
  const conffile = (text: string): string => `config.yaml root:chain-agent 640\n${text}END`

  it('a new host has no configuration file, and the agent runs', { timeout: SLOW }, async () => {
    const file = await versionWithConffile(deb(), host().directory)
    await must('cp', [deb(), host().directory])
    earlier = basename(file)
    current = basename(deb())
    await install(current)
    await isActive()
    expect(await configurationOf(host())).toBe('END')
    expect(await host().exec('stat', ['-c', '%U:%G %a', '/etc/chain-agent'])).toMatchObject({ stdout: 'root:root 755' })
    expect((await host().exec('chain-agent', ['config'])).stdout).toContain('none: defaults')
    expect((await host().exec('cat', ['/usr/share/doc/chain-agent/examples/config.yaml'])).stdout).toContain('#prefix:')
  })

  it('`init` writes the file, for root and the group of the agent, and a purge removes it', async () => {
    const written = await host().exec('chain-agent', ['init', '--yes', '--alertmanager', 'http://127.0.0.1:9093'])
    expect(written.stdout, written.stderr).toMatch(/^changed: \/etc\/chain-agent\/config\.yaml\n/)
    expect(await configurationOf(host())).toMatch(/^config\.yaml root:chain-agent 640\n/)
    await host().systemctl('reload', 'chain-agent')
    expect((await host().exec('chain-agent', ['config'])).stdout).toMatch(/^ {2}urls: .*9093.*# .*config\.yaml:\d+$/m)
    const before = await configurationOf(host())
    await install(current)
    await aptGet(host(), 'install', '--reinstall', `./${current}`)
    expect(await configurationOf(host())).toBe(before)
    await isActive()

    // The earlier package has a file of this name, of which dpkg knows nothing yet: upgrade.md has the option.
    const keep =
      'cd "$0"; setsid apt-get -y --allow-downgrades -o Dpkg::Options::=--force-confold install "./$1" < /dev/null'
    expect(await host().exec('sh', ['-euc', keep, host().directory, earlier], { timeout: SLOW })).toMatchObject({
      code: 0,
    })
    await isActive()
    await install(current)
    await isActive()
    expect(await host().exec('cat', ['/etc/chain-agent/config.yaml'])).toMatchObject({ stdout: textOf(before) })
    await aptGet(host(), 'purge', 'chain-agent')
    expect((await host().exec('ls', ['/etc/chain-agent'])).code).not.toBe(0)
  })

  it('an upgrade keeps an untouched conffile, as does the way back', async () => {
    await install(earlier)
    await isActive()
    expect(await configurationOf(host())).toBe(conffile(OLD_CONFFILE))
    await install(current)
    await isActive()
    expect(await configurationOf(host())).toBe(conffile(OLD_CONFFILE))
    await install(earlier)
    await isActive()
    expect(await configurationOf(host())).toBe(conffile(OLD_CONFFILE))
  })

  it('an upgrade keeps an edited conffile, as does the way back; a purge removes it', async () => {
    const edited = `${OLD_CONFFILE}log: { level: info } # by the operator\n`
    await writeFile(join(host().directory, 'edited.yaml'), edited)
    await host().exec('sh', ['-euc', `cat ${host().directory}/edited.yaml > /etc/chain-agent/config.yaml`])
    for (const file of [current, earlier, current]) {
      await install(file)
      await isActive()
      expect(await configurationOf(host())).toBe(conffile(edited))
    }
    expect((await host().exec('chain-agent', ['config'])).stdout).toMatch(/^ {2}level: info +# .*config\.yaml:4$/m)
    await aptGet(host(), 'purge', 'chain-agent')
    expect((await host().exec('ls', ['/etc/chain-agent'])).code).not.toBe(0)
  })
}
