import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { must, run } from './programs.ts'

const CACHE = fileURLToPath(new URL('../../.cache/debian', import.meta.url))
const DOWNLOAD = ['-q', '-o', 'APT::Sandbox::User=root', 'download']

/**
 * The place where a Debian package lies unpacked. Nothing is installed: no service starts on this machine and no
 * package of it is upgraded.
 */
export const debianPackage = async (name: string): Promise<string> => {
  const place = join(CACHE, name)
  if (await exists(place)) return place
  await mkdir(CACHE, { recursive: true })
  const fresh = await mkdtemp(join(CACHE, `.${name}-`))
  try {
    await download(name, fresh)
    const [archive = 'none'] = (await readdir(fresh)).filter((file) => file.endsWith('.deb'))
    await must('dpkg', ['-x', join(fresh, archive), join(fresh, 'root')])
    await rename(join(fresh, 'root'), place).catch(async (error: unknown) => {
      // Another run was faster.
      if (!(await exists(place))) throw error
    })
  } finally {
    await rm(fresh, { recursive: true, force: true })
  }
  return place
}

const exists = async (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  )

/** Asks for the lists of packages only where they are missing or too old; one run at a time may. */
const download = async (name: string, cwd: string): Promise<void> => {
  if ((await run('apt-get', [...DOWNLOAD, name], { cwd })).code === 0) return
  await must('flock', [join(CACHE, '.lock'), 'apt-get', '-q', 'update'], { timeout: 120_000 })
  await must('apt-get', [...DOWNLOAD, name], { cwd })
}
