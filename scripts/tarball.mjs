// Packs the npm package, and the source maps of dist, into the directory that is given, else the current one.
// `dependencies` of the checkout are what dist contains, for `npm audit` and an SBOM; the package has none, so that an
// installation downloads nothing. Screenshots (2.5 MB) are replaced by their text. Two runs write the same bytes.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'

const [destination = '.'] = process.argv.slice(2)
const run = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 })
const pack = (directory, to) =>
  JSON.parse(run('npm', 'pack', '--json', '--pack-destination', to, directory))[0].filename
/** The time that npm gives to each file of a package. */
const MODIFIED = new Date('1985-10-26T08:15:00Z')
/** The source maps of the last build. */
const MAPS = '.cache/maps'
const SCREENSHOT = /(?:<picture>\s*<source [^>]*>\s*)?<img src="[^"]*\.png" alt="([^"]*)"[^>]*>(?:\s*<\/picture>)?/g

const stage = mkdtempSync(join(tmpdir(), 'chain-agent-tarball-'))
try {
  run('tar', '-xpzf', join(stage, pack('.', stage)), '-C', stage)
  const file = join(stage, 'package/package.json')
  const { dependencies: _, ...published } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, `${JSON.stringify(published, null, 2)}\n`)
  for (const page of readdirSync(join(stage, 'package'), { recursive: true }).filter((name) => name.endsWith('.md'))) {
    const text = readFileSync(join(stage, 'package', page), 'utf8')
    writeFileSync(join(stage, 'package', page), text.replaceAll(SCREENSHOT, '_$1_'))
  }
  // Files of the checkout have the modes of the umask under which they were written.
  run('chmod', '-R', 'u=rwX,go=rX', join(stage, 'package'))
  const maps = readdirSync(MAPS, { recursive: true }).filter((name) => name.endsWith('.map'))
  const members = maps
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => {
      const body = readFileSync(join(MAPS, name))
      return { header: { name, size: body.length, mode: 0o644, mtime: MODIFIED }, body }
    })
  writeFileSync(join(destination, `chain-agent-${published.version}-maps.tar.gz`), gzipSync(await packTar(members)))
  console.log(pack(join(stage, 'package'), destination))
} finally {
  rmSync(stage, { recursive: true })
}
