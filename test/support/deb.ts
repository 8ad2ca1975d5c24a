import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { must, run } from './programs.ts'
import type { Probe } from './real-parts.ts'
import { probeSandbox } from './sandbox.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const CACHE = join(ROOT, '.cache')
/** Copying and compressing 200 MB on a busy machine. */
const SLOW = 900_000

/** Whether the machine is a Debian host on which packages can be built and installed; with another program, if one is named. */
export const probeDebianHost = async (program = ''): Promise<Probe> => {
  if (process.arch !== 'x64') return { missing: `the packages are for amd64, not ${process.arch}` }
  if ((await run('sh', ['-c', `command -v dpkg-deb deb-systemd-invoke ${program}`])).code !== 0)
    return { missing: 'no Debian' }
  return probeSandbox()
}

/** Builds both packages and returns their paths: the agent, the query service. */
export const buildDebs = async (umask = '022', env: Readonly<Record<string, string>> = {}) => {
  const build = 'umask "$0"; exec "$1" scripts/package.mjs --compression gzip'
  await must('sh', ['-c', build, umask, process.execPath], { cwd: ROOT, env, timeout: SLOW })
  const output = join(CACHE, 'deb')
  const files = (await readdir(output)).filter((file) => file.endsWith('.deb')).map((file) => join(output, file))
  const one = (name: string): string => files.find((file) => basename(file).startsWith(`${name}_`)) ?? `no ${name}`
  return { agent: one('chain-agent'), queryService: one('chain-agent-query-service') }
}

/** The same package as a later version, in a directory of its own. */
export const laterVersion = async (deb: string, directory: string, version: string): Promise<string> =>
  repack(deb, { file: join(directory, `later_${version}_amd64.deb`), version })

/** What packages up to version 0.2.0 had as `/etc/chain-agent/config.yaml`, a conffile. */
export const OLD_CONFFILE = '# chain-agent: every key, at its default.\n\n#prefix: auto\n'

/** The same package as an earlier version with that file, its unit and its installation script. */
export const versionWithConffile = async (deb: string, directory: string): Promise<string> =>
  repack(deb, {
    file: join(directory, 'earlier_0.0.1_amd64.deb'),
    version: '0.0.1',
    change: async (tree) => {
      const path = '/etc/chain-agent/config.yaml'
      await writeFile(join(tree, path), OLD_CONFFILE)
      await writeFile(join(tree, 'DEBIAN/conffiles'), `${path}\n`)
      const edit = async (file: string, before: string, after: string): Promise<void> => {
        const text = await readFile(join(tree, file), 'utf8')
        if (!text.includes(before)) throw new Error(`${file} has no ${before}`)
        await writeFile(join(tree, file), text.replace(before, after))
      }
      const sysusers = 'systemd-sysusers chain-agent.conf\n'
      const restrict = `if [ -z "$2" ]; then chown root:chain-agent ${path}; chmod 0640 ${path}; fi\n`
      await edit('DEBIAN/postinst', sysusers, `${sysusers}${restrict}`)
      await edit(
        'usr/lib/systemd/system/chain-agent.service',
        'chain-agent run\n',
        `chain-agent run --config ${path}\n`,
      )
    },
  })

interface Repack {
  readonly file: string
  readonly version: string
  readonly change?: (tree: string) => Promise<void>
}

const repack = async (deb: string, { file: later, version, change }: Repack): Promise<string> => {
  const tree = await mkdtemp(join(CACHE, 'later-'))
  try {
    await must('dpkg-deb', ['-R', deb, tree], { timeout: SLOW })
    await change?.(tree)
    for (const file of ['DEBIAN/control', 'usr/lib/chain-agent/package.json']) {
      const text = await readFile(join(tree, file), 'utf8')
      await writeFile(join(tree, file), text.replace(/^(Version: |  "version": ")[^"\n]+/m, `$1${version}`))
    }
    await must('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z1', '-b', tree, later], { timeout: SLOW })
  } finally {
    await rm(tree, { recursive: true })
  }
  return later
}

/** Downloads packages and what they need besides the packages of this machine, into the directory. */
export const downloadPackages = async (directory: string, names: readonly string[]): Promise<void> => {
  const to = ['-o', 'APT::Sandbox::User=root', '-o', `Dir::Cache::archives=${directory}`, '-o', 'Debug::NoLocking=1']
  const args = ['-q', '-y', ...to, '--no-install-recommends', '--download-only', 'install', ...names]
  await must('apt-get', args, { timeout: SLOW })
}
