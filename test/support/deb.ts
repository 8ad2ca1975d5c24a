import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { must } from './programs.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
export const CACHE = join(ROOT, '.cache')
/** Copying and compressing 200 MB on a busy machine. */
const SLOW = 900_000

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
export const laterVersion = async (deb: string, directory: string, version: string): Promise<string> => {
  const tree = await mkdtemp(join(CACHE, 'later-'))
  const later = join(directory, `later_${version}_amd64.deb`)
  try {
    await must('dpkg-deb', ['-R', deb, tree], { timeout: SLOW })
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
