// Builds a release in .cache/release: the Debian packages of each architecture with their SBOM, the npm package, the source maps,
// SHA256SUMS, and in apt/ a static apt repository. Two builds of one commit are identical, except for the signatures, which contain
// the time (*.asc, InRelease, Release.gpg). Needs what scripts/package.mjs needs, and gpg.
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { ARCHITECTURES, releaseTime, run, sha256, sign, signatureOf, writeRepository } from './apt-repository.mjs'

const { compression, earlier, output, ...values } = parseArgs({
  options: {
    'sign-key': { type: 'string' },
    url: { type: 'string' },
    unsigned: { type: 'boolean' },
    compression: { type: 'string', default: 'xz' },
    /** A directory with packages of earlier releases, which stay in the repository: for a downgrade. */
    earlier: { type: 'string' },
    output: { type: 'string', default: '.cache/release' },
  },
}).values
const signature = signatureOf(values)
const pool = join(output, 'apt/pool')

rmSync(output, { recursive: true, force: true })
mkdirSync(pool, { recursive: true })
const old =
  earlier === undefined ? [] : readdirSync(earlier, { recursive: true }).filter((name) => name.endsWith('.deb'))
for (const file of old) copyFileSync(join(earlier, file), join(pool, basename(file)))
for (const arch of ARCHITECTURES) {
  const build = join(output, arch)
  console.log(
    run(
      process.execPath,
      'scripts/package.mjs',
      `--arch=${arch}`,
      `--output=${build}`,
      `--compression=${compression}`,
    ).trimEnd(),
  )
  for (const file of readdirSync(build).filter((name) => /\.(?:deb|tgz|gz)$/.test(name))) {
    renameSync(join(build, file), join(output, file))
    if (!file.endsWith('.deb')) continue
    copyFileSync(join(output, file), join(pool, file))
    const [name] = file.split('_')
    const bill = join(build, name, 'usr/share/doc', name, 'sbom.cdx.json')
    copyFileSync(bill, join(output, file.replace(/deb$/, 'cdx.json')))
  }
  rmSync(build, { recursive: true })
}

const files = readdirSync(output).filter((name) => name !== 'apt')
const sums = files.toSorted().map((name) => `${sha256(readFileSync(join(output, name)))}  ${name}\n`)
const list = join(output, 'SHA256SUMS')
writeFileSync(list, sums.join(''))
if (signature !== undefined) sign(signature, '--detach-sign', [list, `${list}.asc`])
writeRepository(join(output, 'apt'), releaseTime(), signature)
console.log(signature === undefined ? `${output}: no signature` : `${output}: signed with ${signature.key}`)
