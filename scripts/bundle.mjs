// Bundles the program to dist: a file for each command, what several of them share, and the manual page.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'rolldown'

/** The licences of all packages of the bundle, in one file. */
const licences = {
  name: 'licences',
  generateBundle(_options, bundle) {
    const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
    const packages = new Set(modules.flatMap((id) => /^[^\0].*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id) ?? []))
    const texts = [...packages].toSorted().map((directory) => {
      const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
      const file = readdirSync(directory).find((entry) => /^licen[cs]e/i.test(entry))
      const text = file === undefined ? '' : `\n${readFileSync(join(directory, file), 'utf8').trim()}\n`
      return `${name} ${version} (${license})\n${text}`
    })
    this.emitFile({ type: 'asset', fileName: 'LICENSES.txt', source: texts.join(`\n${'-'.repeat(80)}\n\n`) })
  },
}

/** The commit, with `-dirty` if a tracked file differs from it; empty without git or outside of a checkout. */
const revision = () => {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--abbrev=40', '--exclude=*', '--dirty'], {
    encoding: 'utf8',
  })
  return status === 0 ? stdout.trim() : ''
}

/** Replaced by nothing: each with the packages that load it, for functions that the program does not call. */
const REPLACED = {
  'iconv-lite': ['body-parser', 'raw-body'],
  qs: ['body-parser', 'express'],
  '@opentelemetry/api': ['prom-client'],
}
/** Loaded when it is used, since only the Debian package chain-agent-query-service brings it: a native addon. */
const LEFT_OUT = '@duckdb/node-api'
/** What decodes with iconv-lite or qs in Express: a body as text, a form, the query of a URL. */
const DECODERS =
  /\bexpress\.(?:json|text|urlencoded)\b|\{[^}]*\b(?:json|text|urlencoded)\b[^}]*\} from 'express'|\b(?:req|request)\.query\b|'query parser'/

/** Leaves packages out, and fails the build if the program uses one in another way than assumed here. */
const guard = {
  name: 'guard',
  resolveId: {
    filter: { id: /^(?:iconv-lite|qs|@opentelemetry\/api|@duckdb\/node-api)(?:\/|$)/ },
    handler(id, importer, { kind }) {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(id)[0]
      const by = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(importer)?.[1]
      if (name === LEFT_OUT ? kind !== 'dynamic-import' : !REPLACED[name].includes(by))
        this.error(`${importer} imports ${id}, which the bundle does not contain: see scripts/bundle.mjs`)
      return name === LEFT_OUT ? { id, external: true } : null
    },
  },
  transform: {
    filter: { id: { include: /\/(?:src|query|simulator)\/.*\.ts$/ }, code: DECODERS },
    handler(code, id) {
      this.error(`${id} uses ${DECODERS.exec(code)[0]}, which the bundle does not contain: see scripts/bundle.mjs`)
    },
  },
}

/** Options of rolldown. */
export const options = {
  input: {
    main: 'src/main.ts',
    tool: 'simulator/tools/tool.ts',
    'bcrypt-worker': 'src/exporter/bcrypt-worker.ts',
    // For tests; scripts/tarball.mjs leaves it out.
    testing: 'test/support/program.ts',
  },
  platform: 'node',
  resolve: { alias: Object.fromEntries(Object.keys(REPLACED).map((name) => [name, false])) },
  transform: { define: { BUILD_REVISION: JSON.stringify(revision()) } },
  plugins: [guard, licences],
  output: {
    dir: 'dist',
    cleanDir: true,
    sourcemap: 'hidden',
    chunkFileNames: 'chunks/[name]-[hash].js',
    // V8 keeps the source text in memory: two bytes per character if one is beyond Latin-1.
    charset: 'ascii',
    comments: false,
    // Not the names of functions and classes, which a stack trace has.
    minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
  },
}

/** Source maps do not ship: two thirds of dist, for who reads a stack trace (scripts/stack-trace.mjs). */
const MAPS = '.cache/maps'

if (process.argv[1] === import.meta.filename) {
  await build(options)
  rmSync(MAPS, { recursive: true, force: true })
  for (const file of readdirSync('dist', { recursive: true }).filter((name) => name.endsWith('.map'))) {
    mkdirSync(dirname(join(MAPS, file)), { recursive: true })
    renameSync(join('dist', file), join(MAPS, file))
  }
  writeFileSync('dist/chain-agent.1', execFileSync(process.execPath, ['dist/main.js', 'man']))
}
