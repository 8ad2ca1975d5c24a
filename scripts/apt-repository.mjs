// Writes the indexes of a static apt repository for the Debian packages in FOLDER/pool, signed with a key of gpg:
//   node scripts/apt-repository.mjs --sign-key ID --url URL FOLDER
// Any web server can serve FOLDER at URL. Needs dpkg-deb and gpg. Without a key the indexes have no signature, and apt rejects them.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { constants, gzipSync } from 'node:zlib'

export const ARCHITECTURES = ['amd64', 'arm64']
const SUITE = 'stable'

export const run = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 })
export const sha256 = (content) => createHash('sha256').update(content).digest('hex')

/** Ends the process with a usage error. */
const reject = (message) => {
  console.error(message)
  process.exit(2)
}

/** The options of the signature, checked before a build that takes minutes. */
export const signatureOf = ({ 'sign-key': key, url, unsigned = false }) => {
  if (unsigned) return undefined
  if (key === undefined || url === undefined)
    reject(
      'Expected --sign-key ID (a secret key of `gpg --list-secret-keys`, in the directory that GNUPGHOME names) and --url URL (the address of the repository). --unsigned builds without a signature.',
    )
  if (!/^https?:\/\/\S+$/.test(url)) reject(`Expected an http or https URL for --url, got ${url}.`)
  try {
    const keys = run('gpg', '--batch', '--with-colons', '--list-secret-keys', key)
    const [, fingerprint] = /^fpr:+([0-9A-F]+):/m.exec(keys)
    return { key: fingerprint, url }
  } catch (error) {
    if (error.code === 'ENOENT') return reject('gpg is not installed: apt-get install gnupg')
    return reject(
      `gpg has no secret key ${key}. Import it with \`gpg --import FILE\`, or set GNUPGHOME to its directory.`,
    )
  }
}

/** Writes a signature of the file: `--detach-sign`, or `--clearsign` with the content. It contains the time of the signature. */
export const sign = ({ key }, how, [file, to]) =>
  run('gpg', '--batch', '--yes', '--local-user', key, '--digest-algo', 'SHA512', '--armor', '--output', to, how, file)

/** The paragraph of a package in the index. */
const entryOf = (folder, file) => {
  const content = readFileSync(join(folder, file))
  const control = run('dpkg-deb', '--field', join(folder, file)).trimEnd()
  return `${control}\nFilename: ${file}\nSize: ${content.length}\nSHA256: ${sha256(content)}\n`
}

/** With the key in it, which apt ≥ 2.3.10 reads: one file to download. */
const sourcesOf = (url, key) => {
  const block = key.trimEnd().replaceAll(/^$/gm, '.').replaceAll(/^/gm, ' ')
  return `Types: deb\nURIs: ${url}\nSuites: ${SUITE}\nComponents: main\nSigned-By:\n${block}\n`
}

export const writeRepository = (folder, epoch, signature) => {
  rmSync(join(folder, 'dists'), { recursive: true, force: true })
  const suite = join(folder, 'dists', SUITE)
  const packages = readdirSync(join(folder, 'pool'))
    .filter((file) => file.endsWith('.deb'))
    .toSorted()
  const sums = []
  for (const architecture of ARCHITECTURES) {
    const own = packages.filter((file) => file.endsWith(`_${architecture}.deb`))
    const index = Buffer.from(own.map((file) => entryOf(folder, `pool/${file}`)).join('\n'))
    const directory = `main/binary-${architecture}`
    // By hash, too: between two releases, a cache may serve the old index with the new Release.
    mkdirSync(join(suite, directory, 'by-hash/SHA256'), { recursive: true })
    const files = { Packages: index, 'Packages.gz': gzipSync(index, { level: constants.Z_BEST_COMPRESSION }) }
    for (const [name, content] of Object.entries(files)) {
      writeFileSync(join(suite, directory, name), content)
      writeFileSync(join(suite, directory, 'by-hash/SHA256', sha256(content)), content)
      sums.push(` ${sha256(content)} ${content.length} ${directory}/${name}\n`)
    }
  }
  const release = [
    'Origin: chain-agent',
    'Label: chain-agent',
    `Suite: ${SUITE}`,
    `Codename: ${SUITE}`,
    `Date: ${new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')}`,
    `Architectures: ${ARCHITECTURES.join(' ')}`,
    'Components: main',
    'Description: monitoring agent for Monad-family blockchain nodes',
    'Acquire-By-Hash: yes',
    `SHA256:\n${sums.join('')}`,
  ]
  writeFileSync(join(suite, 'Release'), release.join('\n'))
  if (signature === undefined) return
  const at = (name) => [join(suite, 'Release'), join(suite, name)]
  sign(signature, '--clearsign', at('InRelease'))
  sign(signature, '--detach-sign', at('Release.gpg'))
  const key = run('gpg', '--batch', '--armor', '--export-options', 'export-minimal', '--export', signature.key)
  writeFileSync(join(folder, 'chain-agent.asc'), key)
  writeFileSync(join(folder, 'chain-agent.sources'), sourcesOf(signature.url, key))
}

export const releaseTime = () => Number(process.env.SOURCE_DATE_EPOCH ?? run('git', 'log', '-1', '--pretty=%ct'))

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: {
      'sign-key': { type: 'string' },
      url: { type: 'string' },
      unsigned: { type: 'boolean' },
    },
    allowPositionals: true,
  })
  const [folder] = positionals
  if (folder === undefined) reject('Expected the folder of the repository, which contains pool/.')
  writeRepository(folder, releaseTime(), signatureOf(values))
}
