import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { must, run } from './programs.ts'

export interface Browser {
  readonly program: string
  /** Folders of its libraries, if they are not installed. */
  readonly libraries: readonly string[]
}

const INSTALLED = ['chromium', 'chromium-headless-shell', 'chromium-browser', 'google-chrome']
const PACKAGE = 'chromium-headless-shell'
const CACHE = fileURLToPath(new URL('../../.cache/debian', import.meta.url))
const PLACE = join(CACHE, `${PACKAGE}-with-libraries`)

/** One that is installed, or Debian's, unpacked with the libraries that this machine lacks. */
export const findChromium = async (): Promise<Browser> => {
  for (const name of INSTALLED) {
    const { code, stdout } = await run('which', [name])
    if (code === 0) return { program: stdout.trim(), libraries: [] }
  }
  if (!(await exists(PLACE))) await unpack()
  return {
    program: join(PLACE, 'usr/lib/chromium', PACKAGE),
    libraries: await foldersOfLibraries(),
  }
}

const exists = async (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

const foldersOfLibraries = async (): Promise<readonly string[]> => {
  const entries = await readdir(join(PLACE, 'usr/lib'), { recursive: true, withFileTypes: true })
  const libraries = entries.filter(({ name }) => /\.so(?:\.|$)/.test(name))
  return [...new Set(libraries.map(({ parentPath }) => parentPath))]
}

const unpack = async (): Promise<void> => {
  await mkdir(CACHE, { recursive: true })
  const fresh = await mkdtemp(join(CACHE, '.chromium-'))
  try {
    await mkdir(join(fresh, 'archives/partial'), { recursive: true })
    await download(join(fresh, 'archives'))
    const archives = await readdir(join(fresh, 'archives'))
    for (const file of archives.filter((name) => name.endsWith('.deb')))
      await must('dpkg', ['-x', join(fresh, 'archives', file), join(fresh, 'root')])
    await rename(join(fresh, 'root'), PLACE).catch(async (error: unknown) => {
      // Another worker was faster.
      if (!(await exists(PLACE))) throw error
    })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
}

/** What would be installed, and is not. */
const download = async (archives: string): Promise<void> => {
  const options = ['Debug::NoLocking=true', 'APT::Sandbox::User=root', `Dir::Cache::archives=${archives}`]
  const args = ['-q', '-y', ...options.flatMap((option) => ['-o', option])]
  const install = [...args, 'install', '--download-only', '--no-install-recommends', PACKAGE]
  if ((await run('apt-get', install, { timeout: 300_000 })).code === 0) return
  await must('apt-get', ['-q', 'update'], { timeout: 120_000 })
  await must('apt-get', install, { timeout: 300_000 })
}
