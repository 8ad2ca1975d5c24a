import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { laterVersion, probeDebianHost } from '../support/deb.ts'
import { debianTree, probeDebianTree } from '../support/debian.ts'
import { must, run } from '../support/programs.ts'
import { type Probe, requireRealPart, versionsToTest } from '../support/real-parts.ts'
import { createSandbox, type Sandbox } from '../support/sandbox.ts'
import { blocksOf, scriptOf } from '../support/shell-blocks.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SERVER = join(ROOT, 'test/fixtures/bin/static-files.mjs')
const SLOW = 900_000
const URL_OF_APT = 'http://127.0.0.1:8000'
/** An ELF file begins with this, and has the number of its machine in two bytes at this offset. */
const ELF = Buffer.from('\x7fELF', 'latin1')
const MACHINE = 18
const X86_64 = 62
const AARCH64 = 183
const LATER = '99.0.0'
/** In the compressed files of a package. */
const CHANGED_AT = 1_000_000

const { version } = z
  .object({ version: z.string() })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')))

/** The release of Debian on the host; undefined for that of this machine. */
const [debian] = versionsToTest<string | undefined>([undefined, 'trixie'])

const probe = async (): Promise<Probe> => {
  const host = await probeDebianHost('gpg')
  return 'missing' in host || debian === undefined ? host : probeDebianTree(debian)
}

/** The machine of each ELF file in the directory, by its path. */
const machinesIn = async (directory: string): Promise<Readonly<Record<string, number>>> => {
  const machines: Record<string, number> = {}
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const content = await readFile(file)
    if (content.subarray(0, 4).equals(ELF)) machines[relative(directory, file)] = content.readUInt16LE(MACHINE)
  }
  return machines
}

const invertByte = async (path: string): Promise<void> => {
  const file = await open(path, 'r+')
  try {
    const byte = Buffer.alloc(1)
    await file.read(byte, 0, 1, CHANGED_AT)
    await file.write(Buffer.from([255 - byte.readUInt8()]), 0, 1, CHANGED_AT)
  } finally {
    await file.close()
  }
}

const describe = await requireRealPart('apt', probe)

describe('a release', () => {
  let keys: string
  let host: Sandbox
  let release: string
  let repository: string

  const debOf = (name: string, architecture: string): string => join(release, `${name}_${version}_${architecture}.deb`)
  const gpg = async (...args: readonly string[]): Promise<string> =>
    must('gpg', ['--batch', ...args], { env: { GNUPGHOME: keys } })
  const newKey = async (name: string): Promise<void> => {
    await gpg('--passphrase', '', '--quick-generate-key', name, 'ed25519', 'sign', '1d')
  }
  const script = async (file: string, ...args: readonly string[]): Promise<string> =>
    must(process.execPath, [join('scripts', file), ...args], { cwd: ROOT, env: { GNUPGHOME: keys }, timeout: SLOW })
  /** Writes the indexes again, as of a later release. */
  const index = async (key: string): Promise<void> => {
    await script('apt-repository.mjs', '--sign-key', key, '--url', URL_OF_APT, repository)
  }
  /** Root on the host, without a terminal. */
  const shell = async (text: string) => {
    const { code, stdout, stderr } = await host.exec('sh', ['-euc', text], { input: '', timeout: SLOW })
    return { code, output: `${stdout}\n${stderr}` }
  }
  /** What is installed, and whether it runs. */
  const installed = async (): Promise<string> => {
    const { output } = await shell(
      "dpkg-query -W -f='${Status} ${Version} ' chain-agent; systemctl is-active chain-agent",
    )
    return output.trim()
  }

  beforeAll(async () => {
    keys = await mkdtemp(join(tmpdir(), 'chain-keys-'))
    await newKey('release@example.invalid')
    host = await createSandbox({
      units: (directory) => ({
        'repository.service': `[Service]\nExecStart=${process.execPath} ${SERVER} ${directory}/release/apt 8000\n`,
      }),
      binds: [SERVER],
      ownNetwork: true,
      ...(debian !== undefined && { root: await debianTree(debian) }),
    })
    release = join(host.directory, 'release')
    repository = join(release, 'apt')
    const signature = ['--sign-key=release@example.invalid', `--url=${URL_OF_APT}`]
    await script('release.mjs', '--compression=gzip', `--output=${release}`, ...signature)
    // A container's policy that no package starts a service, and the index of man-db, which takes 20 s.
    await shell('rm -rf /usr/sbin/policy-rc.d /var/lib/man-db/auto-update /etc/apt/sources.list* /var/lib/apt/lists')
    await shell('mkdir /etc/apt/sources.list.d; systemctl start repository')
  }, SLOW)
  afterAll(async () => {
    await host.down()
    await run('gpgconf', ['--kill', 'gpg-agent'], { env: { GNUPGHOME: keys } })
    await rm(keys, { recursive: true })
  })

  it('has the packages of both architectures, their SBOM, the npm package and the source maps, with signed hashes', async () => {
    const files = (await readdir(release)).map((file) => file.replace(/(?<=[-_])\d+\.\d+\.\d+/, 'VERSION'))
    expect(files.toSorted()).toEqual([
      'SHA256SUMS',
      'SHA256SUMS.asc',
      'apt',
      'chain-agent-VERSION-maps.tar.gz',
      'chain-agent-VERSION.tgz',
      'chain-agent-query-service_VERSION_amd64.cdx.json',
      'chain-agent-query-service_VERSION_amd64.deb',
      'chain-agent-query-service_VERSION_arm64.cdx.json',
      'chain-agent-query-service_VERSION_arm64.deb',
      'chain-agent_VERSION_amd64.cdx.json',
      'chain-agent_VERSION_amd64.deb',
      'chain-agent_VERSION_arm64.cdx.json',
      'chain-agent_VERSION_arm64.deb',
    ])
    // All but SHA256SUMS, its signature and the directory.
    const checked = await must('sha256sum', ['--check', 'SHA256SUMS'], { cwd: release })
    expect(checked.match(/: OK$/gm)).toHaveLength(10)
    await gpg('--verify', join(release, 'SHA256SUMS.asc'), join(release, 'SHA256SUMS'))
  })

  it.each([
    ['amd64', X86_64, 'x64'],
    ['arm64', AARCH64, 'arm64'],
  ])('has programs and libraries for %s in the packages of it', async (architecture, machine, cpu) => {
    const tree = await mkdtemp(join(host.directory, 'of-release-'))
    for (const name of ['chain-agent', 'chain-agent-query-service']) {
      const deb = debOf(name, architecture)
      expect(await must('dpkg-deb', ['--field', deb, 'Architecture'])).toBe(architecture)
      await must('dpkg-deb', ['-x', deb, tree], { timeout: SLOW })
    }
    const machines = await machinesIn(join(tree, 'usr/lib/chain-agent'))
    const bindings = `node_modules/@duckdb/node-bindings-linux-${cpu}`
    expect(machines).toEqual({
      node: machine,
      [`${bindings}/duckdb.node`]: machine,
      [`${bindings}/libduckdb.so`]: machine,
    })
    const bills = await must('sh', ['-c', `cat ${tree}/usr/share/doc/*/sbom.cdx.json`])
    const parts = bills.match(/(?<="bom-ref": ")(?:node-linux-|@duckdb\/node-bindings-)\w[^@]+/g)
    expect(parts).toEqual([`@duckdb/node-bindings-linux-${cpu}`, `node-linux-${cpu}`])
  })

  it('has an npm package and source maps that do not depend on the time and the umask', async () => {
    const again = await mkdtemp(join(host.directory, 'of-release-'))
    // As in a checkout under this umask.
    await chmod('CHANGELOG.md', 0o600)
    onTestFinished(async () => chmod('CHANGELOG.md', 0o644))
    await must('sh', ['-c', 'umask 077; exec "$0" scripts/tarball.mjs "$1"', process.execPath, again], { cwd: ROOT })
    for (const file of await readdir(again))
      expect((await readFile(join(again, file))).equals(await readFile(join(release, file))), file).toBe(true)
  })

  it('needs a key, an address and the secret part of the key', async () => {
    const key = '--sign-key=release@example.invalid'
    const attempt = async (...args: readonly string[]) => {
      const { code, stderr } = await run(process.execPath, ['scripts/release.mjs', ...args], {
        cwd: ROOT,
        env: { GNUPGHOME: keys },
      })
      return `${code} ${stderr}`
    }
    expect(await attempt()).toMatch(/^2 Expected --sign-key ID .*--unsigned builds without a signature\.$/)
    expect(await attempt(key)).toContain('2 Expected --sign-key ID ')
    expect(await attempt(key, '--url=repository')).toBe('2 Expected an http or https URL for --url, got repository.')
    expect(await attempt('--sign-key=other', `--url=${URL_OF_APT}`)).toContain('gpg has no secret key other.')
  })

  it('installs as the documentation says, and the agent runs', async () => {
    for (const page of ['README.md', 'docs/how-to/install.md']) {
      const text = scriptOf(blocksOf(page), 'apt').replaceAll('https://REPOSITORY', URL_OF_APT)
      const { code, output } = await shell(text)
      expect(code, output).toBe(0)
      expect(output).not.toMatch(/^[WE]: /m)
    }
    expect(await installed()).toBe(`install ok installed ${version} active`)
  })

  it('is upgraded to, and downgraded from', async () => {
    await laterVersion(debOf('chain-agent', 'amd64'), join(repository, 'pool'), LATER)
    await index('release@example.invalid')
    expect(await shell(scriptOf(blocksOf('docs/how-to/upgrade.md'), 'apt'))).toMatchObject({ code: 0 })
    expect(await installed()).toBe(`install ok installed ${LATER} active`)
    const downgrade = `apt-get install -y --allow-downgrades chain-agent=${version}`
    expect(await shell(downgrade)).toMatchObject({ code: 0 })
    expect(await installed()).toBe(`install ok installed ${version} active`)
  })

  it('is not installed if a byte of a package has changed', async () => {
    const deb = join(repository, `pool/later_${LATER}_amd64.deb`)
    await invertByte(deb)
    onTestFinished(async () => invertByte(deb))
    const { code, output } = await shell('apt-get clean; apt-get install -y chain-agent')
    expect(code).toBe(100)
    expect(output).toContain('Hash Sum mismatch')
    expect(await installed()).toBe(`install ok installed ${version} active`)
  })

  it.each([
    // Each copy of it: as a file, by hash, compressed.
    ['the index', 'for file in $(find main -type f); do echo x >> $file; done', /Hash Sum mismatch|unexpected size/],
    ['the list of the hashes', 'sed -i "s/^Components:.*/&x/" InRelease Release', /BADSIG|has been manipulated/],
    ['the key', undefined, /NO_PUBKEY|Missing key/],
  ])('is not used by a new host if %s has changed', async (_, change, message) => {
    if (change === undefined) {
      await newKey('other@example.invalid')
      await index('other@example.invalid')
    } else await must('sh', ['-c', change], { cwd: join(repository, 'dists/stable') })
    onTestFinished(async () => index('release@example.invalid'))
    const { code, output } = await shell('rm -r /var/lib/apt/lists; apt-get update')
    expect(code).toBe(100)
    expect(output).toMatch(message)
    expect((await shell('apt-cache madison chain-agent')).output.trim()).toBe('')
  })
})
