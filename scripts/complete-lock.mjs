// `npm ci` rejects a lock file without the optional packages of every platform, but `npm install` omits those entries
// if the registry does not serve the binaries of other platforms. This script adds them, with the hash that the registry
// reports (`npm view`): without one, `npm ci` on such a platform accepts any content. With --check it only reports what
// is missing. It also reports registry URLs: a lock file with the host of a registry works only with that host.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const FILES = [
  'package-lock.json',
  'bench/package-lock.json',
  'dashboards/render/package-lock.json',
  'packaging/deb/package-lock.json',
  'test/chdb/package-lock.json',
  'test/evm/package-lock.json',
  'test/nodes/package-lock.json',
  'test/official-client/package-lock.json',
]
const SYSTEMS = 'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32 windows'.split(' ')
const PROCESSORS = 'amd64 arm arm64 ia32 loong64 mips64el ppc64 riscv64 s390x x64'.split(' ')
const LIBRARIES = 'glibc gnu gnueabihf musl musleabihf'.split(' ')
const OTHER_NAMES = {
  amd64: 'x64',
  gnu: 'glibc',
  gnueabihf: 'glibc',
  musleabihf: 'musl',
  windows: 'win32',
}

const packageOf = ([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`

const EXACT = /^\d/

/** The entries that a lock file lacks: path → entry. */
const missingFrom = (packages) => {
  const missing = {}
  for (const [path, entry] of Object.entries(packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      const shared = `node_modules/${name}`
      const own = path === '' ? shared : `${path}/${shared}`
      const present = packages[own] ?? packages[shared] ?? missing[shared]
      if (present && (!EXACT.test(version) || present.version === version)) continue
      // Two versions of a package: the second one is in the folder of the package that needs it.
      const place = present ? own : shared
      missing[place] = optionalEntry(name, version, entry.dev)
    }
  }
  return missing
}

const optionalEntry = (name, version, dev) => {
  const words = name.split(/[-/]/)
  const among = (known) => words.filter((word) => known.includes(word)).map((word) => OTHER_NAMES[word] ?? word)
  const cpu = among(PROCESSORS)
  const libc = among(LIBRARIES)
  const os = among(SYSTEMS)
  return {
    version: version.replace(/^[\^~]/, ''),
    ...(cpu.length > 0 && { cpu }),
    ...(dev && { dev }),
    ...(libc.length > 0 && { libc }),
    optional: true,
    ...(os.length > 0 && { os }),
  }
}

/** Bindings of other platforms that the registry does not have (404): `npm ci` cannot install them. For tests and benchmarks only. */
const NOT_SERVED = /^(?:@chdb\/lib|@envio-dev\/hypersync-client)-(?:darwin|linux-arm64|linux-x64-musl|win32)/

/** The entries that npm would install without comparing their content with a hash: name → version. */
const unhashedIn = (packages) =>
  Object.entries(packages)
    .filter(([path, { integrity, inBundle, link }]) => path !== '' && !integrity && !inBundle && !link)
    .filter((one) => !NOT_SERVED.test(packageOf(one)))

const hashOf = (name) => {
  const hash = execFileSync('npm', ['view', name, 'dist.integrity'], { encoding: 'utf8' }).trim()
  if (!/^sha512-[\w+/]{86}==$/.test(hash))
    throw new Error(`${name}: expected one SHA-512 hash, got ${JSON.stringify(hash)}`)
  return hash
}

/** In the order of npm, so that the next `npm install` changes nothing. */
const withHash = ({ version, ...entry }, integrity) => ({ version, integrity, ...entry })

const complete = (file, lock, missing) => {
  const all = { ...lock.packages, ...missing }
  for (const [path, entry] of unhashedIn(all)) all[path] = withHash(entry, hashOf(packageOf([path, entry])))
  const entries = Object.entries(all)
  const packages = Object.fromEntries(entries.toSorted(([a], [b]) => a.localeCompare(b, 'en')))
  writeFileSync(file, `${JSON.stringify({ ...lock, packages }, null, 2)}\n`)
}

const check = process.argv.includes('--check')
for (const file of FILES) {
  const lock = JSON.parse(readFileSync(file, 'utf8'))
  const missing = missingFrom(lock.packages)
  const named = Object.entries(missing).map(([place, { version }]) => `  ${place} ${version}`)
  const addressed = Object.values(lock.packages).filter(({ resolved }) => resolved).length
  if (addressed > 0) {
    process.exitCode = 1
    console.error(`${file} names a registry's host ${addressed} times: delete it and install again`)
  }
  const unhashed = unhashedIn(lock.packages).map((one) => `  ${packageOf(one)}`)
  if (named.length === 0 && unhashed.length === 0) continue
  const lines = [
    ...(named.length > 0 ? ['optional packages:', ...named] : []),
    ...(unhashed.length > 0 ? ['hashes:', ...unhashed] : []),
  ].join('\n')
  if (check) {
    process.exitCode = 1
    console.error(`${file} lacks ${lines}\nfix it: node scripts/complete-lock.mjs`)
  } else {
    complete(file, lock, missing)
    console.log(`${file}: added ${lines}`)
  }
}
