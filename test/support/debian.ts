import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { must, run } from './programs.ts'
import type { Probe } from './real-parts.ts'

const CACHE = fileURLToPath(new URL('../../.cache/debian', import.meta.url))
const ARCHIVE = 'http://deb.debian.org/debian'
const KEYS = '/usr/share/keyrings/debian-archive-keyring.gpg'
const DOWNLOAD = ['-q', '-o', 'APT::Sandbox::User=root', 'download']

/** Packages of a release of Debian that need not be the one of this machine. */
export interface ReleasePackages {
  readonly release: string
  readonly packages: readonly string[]
  /** The start of their version, as in `3.5`, while the release has it. */
  readonly version: string
}

/**
 * The place where a Debian package lies unpacked. Nothing is installed: no service starts on this machine and no
 * package of it is upgraded.
 */
export const debianPackage = async (name: string): Promise<string> =>
  unpackOnce(name, async (cwd) => withPackageLists([...DOWNLOAD, name], cwd))

/** The same for packages of another release, unpacked over each other. */
export const debianPackagesOf = async (wanted: ReleasePackages): Promise<string> =>
  unpackOnce(`${wanted.packages[0]}-${wanted.version}`, async (cwd) => downloadFrom(wanted, cwd))

/** The root file system of a release that boots: systemd and D-Bus, procps and curl. It needs root, and takes two minutes once. */
export const debianTree = async (release: string): Promise<string> =>
  unpackOnce(`tree-${release}`, async (cwd) => {
    const installed = await debianPackage('debootstrap')
    const root = join(cwd, 'root')
    const what = [
      '--variant=minbase',
      '--include=systemd,dbus,procps,curl',
      `--keyring=${KEYS}`,
      release,
      root,
      ARCHIVE,
    ]
    // What debootstrap mounts is seen in a namespace of its own, and ends with it.
    await must('unshare', ['--mount', join(installed, 'usr/sbin/debootstrap'), ...what], {
      env: { DEBOOTSTRAP_DIR: join(installed, 'usr/share/debootstrap') },
      timeout: 900_000,
    })
    for (const needless of ['var/cache/apt', 'var/lib/apt/lists']) await rm(join(root, needless), { recursive: true })
  })

export const probeDebianTree = async (release: string): Promise<Probe> => {
  const versions = 'cat /etc/debian_version; systemctl --version'
  const [debian, systemd = ''] = (await must('chroot', [await debianTree(release), 'sh', '-c', versions])).split('\n')
  return { version: `${debian}, ${/^systemd \d+/.exec(systemd)?.[0]}` }
}

/** Of an unpacked package, in the first line of its log of changes: some programs are built without their version. */
export const packagedVersion = async (root: string, name: string): Promise<string> => {
  const changes = gunzipSync(await readFile(join(root, 'usr/share/doc', name, 'changelog.Debian.gz'))).toString()
  return /\((\d[\d.]*\d)/.exec(changes)?.[1] ?? 'unknown'
}

const unpackOnce = async (name: string, fetchInto: (cwd: string) => Promise<void>): Promise<string> => {
  const place = join(CACHE, name)
  if (existsSync(place)) return place
  await mkdir(CACHE, { recursive: true })
  const fresh = await mkdtemp(join(CACHE, `.${name}-`))
  try {
    await fetchInto(fresh)
    const archives = (await readdir(fresh)).filter((file) => file.endsWith('.deb'))
    for (const archive of archives) await must('dpkg', ['-x', join(fresh, archive), join(fresh, 'root')])
    await rename(join(fresh, 'root'), place).catch((error: unknown) => {
      // Another run was faster.
      if (!existsSync(place)) throw error
    })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return place
}

const BROWSER = 'chromium-headless-shell'
const INSTALLED = ['chromium', BROWSER, 'chromium-browser', 'google-chrome']

/** An installed Chromium, or Debian's, unpacked with the libraries that this machine lacks: the folders of these. */
export const findChromium = async () => {
  for (const name of INSTALLED) {
    const { code, stdout } = await run('which', [name])
    if (code === 0) return { program: stdout.trim(), libraries: [] }
  }
  const root = await unpackOnce(`${BROWSER}-with-libraries`, async (cwd) => {
    await mkdir(join(cwd, 'partial'))
    const options = ['Debug::NoLocking=true', 'APT::Sandbox::User=root', `Dir::Cache::archives=${cwd}`]
    const args = ['-q', '-y', ...options.flatMap((option) => ['-o', option])]
    await withPackageLists([...args, 'install', '--download-only', '--no-install-recommends', BROWSER], cwd)
  })
  const entries = await readdir(join(root, 'usr/lib'), { recursive: true, withFileTypes: true })
  const libraries = entries.filter(({ name }) => /\.so(?:\.|$)/.test(name)).map(({ parentPath }) => parentPath)
  return { program: join(root, 'usr/lib/chromium', BROWSER), libraries: [...new Set(libraries)] }
}

/** Asks for the lists of packages only where they are missing or too old; one run at a time may. */
const withPackageLists = async (args: readonly string[], cwd: string): Promise<void> => {
  if ((await run('apt-get', args, { cwd, timeout: 300_000 })).code === 0) return
  await must('flock', [join(CACHE, '.lock'), 'apt-get', '-q', 'update'], { timeout: 600_000 })
  await must('apt-get', args, { cwd, timeout: 300_000 })
}

/** With lists of packages of its own, which go with the folder: the sources of this machine stay as they are. */
const downloadFrom = async ({ release, packages, version }: ReleasePackages, cwd: string): Promise<void> => {
  const sources = join(cwd, 'sources.list')
  await writeFile(sources, `deb [signed-by=${KEYS}] ${ARCHIVE} ${release} main\n`)
  await mkdir(join(cwd, 'lists/partial'), { recursive: true })
  const own = ['sourceparts=-', `sourcelist=${sources}`].map((option) => `Dir::Etc::${option}`)
  const options = [...own, `Dir::State::lists=${join(cwd, 'lists')}`, `Dir::Cache=${join(cwd, 'cache')}`]
  const args = options.flatMap((option) => ['-o', option])
  await must('apt-get', [...args, '-q', '-o', 'APT::Sandbox::User=root', 'update'], { timeout: 600_000 })
  const pinned = packages.map((name) => `${name}=${version}.*`)
  if ((await run('apt-get', [...args, ...DOWNLOAD, ...pinned], { cwd })).code === 0) return
  // The archive keeps one version: what a release has now is tested, and its number is in the summary of the run.
  await must('apt-get', [...args, ...DOWNLOAD, ...packages], { cwd })
}
