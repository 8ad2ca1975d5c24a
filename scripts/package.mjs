// Builds the Debian packages in .cache/deb: chain-agent with its own Node.js, and chain-agent-query-service with DuckDB. Two
// builds of the same commit are identical. Needs dpkg-deb; uses strip of the architecture if it is installed.
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createHash } from 'node:crypto'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { constants, gzipSync } from 'node:zlib'

const SOURCE = 'packaging/deb'
const NAMES = ['chain-agent', 'chain-agent-query-service']
const QUERY_UNIT = 'chain-agent-serve-query.service'
const SCRIPTS = ['postinst', 'prerm', 'postrm']

const read = (file) => readFileSync(file, 'utf8')
const { compression, arch, output } = parseArgs({
  options: {
    /** `gzip` is for tests: xz takes minutes. */
    compression: { type: 'string', default: 'xz' },
    arch: { type: 'string', default: 'amd64' },
    output: { type: 'string', default: '.cache/deb' },
  },
}).values
/** The architectures of Debian: the name of npm, and the prefix of the tools of binutils. */
const ARCHITECTURES = { amd64: ['x64', 'x86_64'], arm64: ['arm64', 'aarch64'] }
const [cpu, machine] = ARCHITECTURES[arch] ?? []
/** What the packages contain besides the bundle, as npm installs it for the architecture. */
const PARTS = join(output, 'parts')
const RUNTIME = `node-linux-${cpu}`
const BINDINGS = `@duckdb/node-bindings-linux-${cpu}`
const DATABASE = ['@duckdb/node-api', '@duckdb/node-bindings', BINDINGS]
const run = (command, ...args) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 })
const { version } = JSON.parse(read('package.json'))
const epoch = Number(process.env.SOURCE_DATE_EPOCH ?? run('git', 'log', '-1', '--pretty=%ct'))
const at = (name, path) => join(output, name, path)

const write = (file, content, mode = 0o644) => {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
  chmodSync(file, mode)
}
const copy = (from, to, mode) => write(to, readFileSync(from), mode)
/** The time and the name of a file are not part of the result. */
const compress = (text) => gzipSync(text, { level: constants.Z_BEST_COMPRESSION })

/** What the npm package has: data in /usr/share, the program in /usr/lib with links to the data. */
const unpack = (root) => {
  const filename = run(process.execPath, 'scripts/tarball.mjs', output).trim()
  const share = join(root, 'usr/share/chain-agent')
  const lib = join(root, 'usr/lib/chain-agent')
  mkdirSync(share, { recursive: true })
  mkdirSync(lib, { recursive: true })
  run('tar', '-xzf', join(output, filename), '-C', share, '--strip-components=1')
  for (const name of ['dist', 'package.json']) renameSync(join(share, name), join(lib, name))
  // The document of all licences is in /usr/share/doc, the manual page in /usr/share/man.
  const elsewhere = [join(share, 'LICENSE'), join(lib, 'dist/LICENSES.txt'), join(lib, 'dist/chain-agent.1')]
  for (const file of elsewhere) rmSync(file)
  const readme = join(share, 'README.md')
  write(readme, read(readme).replace('](LICENSE)', '](../doc/chain-agent/copyright)'))
  for (const name of readdirSync(share)) symlinkSync(`../../share/chain-agent/${name}`, join(lib, name))
  const examples = join(root, 'usr/share/doc/chain-agent/examples')
  mkdirSync(examples, { recursive: true })
  symlinkSync('../../../chain-agent/config.example.yaml', join(examples, 'config.yaml'))
  // `init` and the operator write here: with a file of the package, dpkg would ask at each upgrade which to keep.
  mkdirSync(join(root, 'etc/chain-agent'), { recursive: true })
  // The units call the program by its path: another one on PATH must not take its place.
  for (const unit of readdirSync('deploy').filter((file) => /\.(?:service|timer)$/.test(file))) {
    rmSync(join(share, 'deploy', unit))
    const name = unit === QUERY_UNIT ? NAMES[1] : NAMES[0]
    const link = at(name, `usr/share/chain-agent/deploy/${unit}`)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(`../../../lib/systemd/system/${unit}`, link)
    const text = read(join('deploy', unit))
      .replaceAll(/^# env searches PATH.*\n/gm, '')
      .replaceAll('/usr/bin/env chain-agent', '/usr/bin/chain-agent')
      .replaceAll("'chain-agent ", "'/usr/bin/chain-agent ")
    write(at(name, `usr/lib/systemd/system/${unit}`), text)
  }
}

/** Removes what only a debugger needs, if binutils of the architecture is installed. */
const strip = (file) => {
  try {
    run(`${machine}-linux-gnu-strip`, '--strip-unneeded', file)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
}

const part = (path) => join(PARTS, 'node_modules', path)

/** In a directory of its own: the architectures can be built at the same time. */
const installParts = () => {
  const { dependencies, optionalDependencies } = JSON.parse(read(`${SOURCE}/package.json`))
  const api = JSON.parse(read('package.json')).dependencies[DATABASE[0]]
  if (new Set(Object.values(optionalDependencies)).size !== 1 || dependencies[DATABASE[0]] !== api)
    throw new Error(`${SOURCE}/package.json: expected one version of Node.js, and ${DATABASE[0]} ${api}`)
  for (const file of ['package.json', 'package-lock.json']) copy(join(SOURCE, file), join(PARTS, file))
  const target = ['--os=linux', `--cpu=${cpu}`, '--libc=glibc']
  run('npm', 'ci', '--prefix', PARTS, ...target, '--prefer-offline', '--no-audit', '--no-fund')
}

const addRuntime = (root) => {
  const node = join(root, 'usr/lib/chain-agent/node')
  copy(part(`${RUNTIME}/bin/node`), node, 0o755)
  strip(node)
  copy(`${SOURCE}/chain-agent/wrapper`, join(root, 'usr/bin/chain-agent'), 0o755)
  const program = (...args) => run(process.execPath, 'dist/main.js', ...args)
  write(join(root, 'usr/share/bash-completion/completions/chain-agent'), program('completion', 'bash'))
  write(join(root, 'usr/share/man/man1/chain-agent.1.gz'), compress(read('dist/chain-agent.1')))
}

const addDatabase = (root) => {
  const to = join(root, 'usr/lib/chain-agent/node_modules')
  for (const name of DATABASE) cpSync(part(name), join(to, name), { recursive: true })
  for (const file of ['duckdb.node', 'libduckdb.so']) strip(join(to, BINDINGS, file))
}

const SEPARATOR = `\n${'-'.repeat(80)}\n\n`
/** The packages of the bundle, as dist/LICENSES.txt lists them. */
const licences = read('dist/LICENSES.txt')
const bundled = licences
  .split(SEPARATOR)
  .map((text) => /^(\S+) (\S+) \(/.exec(text))
  .map(([, name, number]) => `${name}@${number}`)

/** A CycloneDX document with the components that `isPart` accepts. */
const bill = (directory, isPart) => {
  const document = JSON.parse(run('npm', 'sbom', '--sbom-format', 'cyclonedx', '--prefix', directory))
  const components = document.components
    .filter((component) => isPart(component['bom-ref']))
    .map((component) => ({ ...component, properties: undefined }))
  const isListed = (reference) => components.some((component) => component['bom-ref'] === reference)
  const dependencies = document.dependencies
    .filter(({ ref }) => isListed(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter(isListed) }))
  return { ...document, components, dependencies }
}

/** The bill of materials of a package, without the time and the number of the run. */
const billOf = (name) => {
  const isAgent = name === NAMES[0]
  const own = bill('.', (reference) => isAgent && bundled.includes(reference))
  const names = isAgent ? [RUNTIME] : DATABASE
  const added = bill(PARTS, (reference) => names.includes(reference.replace(/(?<=.)@.*/, '')))
  const missing = isAgent
    ? bundled.filter((one) => !own.components.some((component) => component['bom-ref'] === one))
    : []
  if (missing.length > 0) throw new Error(`npm sbom does not list these packages of the bundle: ${missing.join(', ')}`)
  return {
    ...own,
    serialNumber: undefined,
    metadata: {
      ...own.metadata,
      timestamp: undefined,
      component: { ...own.metadata.component, type: 'application', name },
    },
    components: [...own.components, ...added.components],
    dependencies: [...own.dependencies, ...added.dependencies],
  }
}

const addDocuments = (name, root) => {
  const docs = join(root, 'usr/share/doc', name)
  const texts =
    name === NAMES[0]
      ? [licences, `Node.js\n\n${read(part(`${RUNTIME}/LICENSE`))}`]
      : [DATABASE[0], BINDINGS].map((one) => `${one}\n\n${read(part(`${one}/LICENSE`))}`)
  write(join(docs, 'third-party-licences.txt.gz'), compress(texts.join(SEPARATOR)))
  write(join(docs, 'copyright'), read(`${SOURCE}/copyright`).replaceAll('@PACKAGE@', name))
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
  const [maintainer] = /(?<=^Maintainer: ).*$/m.exec(read(`${SOURCE}/${name}/control`))
  const changelog = `${name} (${version}) unstable; urgency=medium\n\n  * Changes: /usr/share/chain-agent/CHANGELOG.md\n\n -- ${maintainer}  ${date}\n`
  write(join(docs, 'changelog.gz'), compress(changelog))
  write(join(docs, 'sbom.cdx.json'), `${JSON.stringify(billOf(name), null, 2)}\n`)
  copy(`${SOURCE}/${name}/sysusers.conf`, join(root, `usr/lib/sysusers.d/${name}.conf`))
  const overrides = `${SOURCE}/${name}/lintian-overrides`
  if (existsSync(overrides)) copy(overrides, join(root, `usr/share/lintian/overrides/${name}`))
}

const pack = (name, root) => {
  // Files of the checkout and of npm have the modes of the umask under which they were written.
  run('chmod', '-R', 'u=rwX,go=rX', root)
  // readdir of Node.js 24 follows links to directories.
  const find = (...of) =>
    run('find', root, '-mindepth', '1', ...of, '-printf', '%P\\n')
      .split('\n')
      .slice(0, -1)
  const paths = find('-type', 'f').toSorted()
  const sums = paths.map(
    (path) =>
      `${createHash('md5')
        .update(readFileSync(join(root, path)))
        .digest('hex')}  ${path}\n`,
  )
  const size = paths.reduce((bytes, path) => bytes + statSync(join(root, path)).size, 0)
  const control = read(`${SOURCE}/${name}/control`)
    .replaceAll('@VERSION@', version)
    .replace('@ARCHITECTURE@', arch)
    .replace('@SIZE@', `${Math.ceil(size / 1024)}`)

  write(join(root, 'DEBIAN/control'), control)
  write(join(root, 'DEBIAN/md5sums'), sums.join(''))
  for (const script of SCRIPTS) copy(`${SOURCE}/${name}/${script}`, join(root, 'DEBIAN', script), 0o755)
  for (const path of find()) lutimesSync(join(root, path), epoch, epoch)
  lutimesSync(root, epoch, epoch)

  const file = join(output, `${name}_${version}_${arch}.deb`)
  // The level changes the bytes.
  const level = compression === 'gzip' ? 1 : 6
  run('dpkg-deb', '--root-owner-group', `-Z${compression}`, `-z${level}`, '--build', root, file)
  return file
}

if (process.platform !== 'linux' || process.arch !== 'x64' || !existsSync('/usr/bin/dpkg-deb')) {
  console.error(
    `Cannot build Debian packages on ${process.platform}-${process.arch}: use Debian or Ubuntu on amd64, with dpkg-deb.`,
  )
  process.exit(1)
}
if (cpu === undefined) {
  console.error(`Unknown architecture ${arch}: use ${Object.keys(ARCHITECTURES).join(' or ')}.`)
  process.exit(1)
}
process.umask(0o022)
Object.assign(process.env, { LC_ALL: 'C', TZ: 'UTC', SOURCE_DATE_EPOCH: `${epoch}` })
rmSync(output, { recursive: true, force: true })
mkdirSync(output, { recursive: true })
installParts()
unpack(at(NAMES[0], ''))
addRuntime(at(NAMES[0], ''))
addDatabase(at(NAMES[1], ''))
for (const name of NAMES) {
  addDocuments(name, at(name, ''))
  const file = pack(name, at(name, ''))
  console.log(`${file}: ${(statSync(file).size / 2 ** 20).toFixed(1)} MiB`)
}
