import { copyFile, cp, readdir, realpath } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { must } from './programs.ts'
import { PATH } from './sandbox.ts'
import type { SandboxedNode } from './sandboxed-node.ts'
import { blocksOf, runOf } from './shell-blocks.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const NOT_COPIED = ['.git', '.cache', 'node_modules', 'dist', 'coverage', 'bench', 'e2e', 'images']
/** npm on a busy machine. */
const TIMEOUT = 1_200_000

/** The shell blocks of an installation with npm, exactly as printed. */
export const installSteps = () => {
  const [build = '', install = '', upgrade = '', uninstall = ''] = ['install', 'upgrade']
    .flatMap((page) => blocksOf(`docs/how-to/${page}.md`))
    .filter((block) => runOf(block)?.place === 'install')
    .map(({ text }) => text)
  return { build, install, upgrade, uninstall }
}

/** Runs the build step in a copy of the checkout, as on another machine, and returns the path of the package. */
export const buildPackage = async (directory: string): Promise<string> => {
  const checkout = join(directory, 'checkout')
  const filter = (path: string): boolean => !NOT_COPIED.includes(basename(path))
  await cp(ROOT, checkout, { recursive: true, filter })
  const { build } = installSteps()
  const options = { cwd: checkout, env: { npm_config_prefer_offline: 'true' }, timeout: TIMEOUT }
  // timeout ends npm together with the shell.
  await must('timeout', [`${TIMEOUT / 1000}`, 'sh', '-euc', build], options)
  const [name = 'no package'] = (await readdir(checkout)).filter((file) => file.endsWith('.tgz'))
  return join(checkout, name)
}

/** A root shell in the directory of the package; throws unless the script succeeds, returns its output. */
export type RootShell = (script: string) => Promise<string>

/**
 * A root shell on a host with Node.js and npm below `prefix`, as NodeSource (/usr) and a tarball (/usr/local) install
 * them. npm has an empty cache and no network: the package needs no other one.
 */
export const rootShell = async (node: SandboxedNode, prefix: string, packageFile: string): Promise<RootShell> => {
  await copyFile(packageFile, join(node.directory, basename(packageFile)))
  const env = {
    PATH,
    npm_config_prefix: prefix,
    npm_config_offline: 'true',
    npm_config_cache: join(node.directory, 'npm-cache'),
  }
  const shell: RootShell = async (script) => node.shell(`cd ${node.directory}\n${script}`, { env, timeout: TIMEOUT })
  const npm = await realpath((await must('sh', ['-c', 'command -v npm'])).trim())
  await shell(`
    cp ${process.execPath} /opt/node
    umount ${process.execPath} 2> /dev/null || : # not mounted if it is below the checkout
    rm -f /usr/bin/node /usr/bin/npm /usr/local/bin/node /usr/local/bin/npm
    ln /opt/node ${prefix}/bin/node
    ln -s ${npm} ${prefix}/bin/npm
    sed -i 's#${process.execPath}#/opt/node#' /etc/systemd/system/${node.unit('ledger-tail')}
    systemctl daemon-reload`)
  return shell
}
