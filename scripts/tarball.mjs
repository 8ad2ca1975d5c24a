// Packs the npm package into the directory that is given, else the current one. `dependencies` of the checkout are what dist
// contains, for `npm audit` and an SBOM; the package has none, so that an installation downloads nothing.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const [destination = '.'] = process.argv.slice(2)
const run = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 })
const pack = (directory, to) =>
  JSON.parse(run('npm', 'pack', '--json', '--pack-destination', to, directory))[0].filename

const stage = mkdtempSync(join(tmpdir(), 'chain-agent-tarball-'))
try {
  run('tar', '-xpzf', join(stage, pack('.', stage)), '-C', stage)
  const file = join(stage, 'package/package.json')
  const { dependencies: _, ...published } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, `${JSON.stringify(published, null, 2)}\n`)
  console.log(pack(join(stage, 'package'), destination))
} finally {
  rmSync(stage, { recursive: true })
}
