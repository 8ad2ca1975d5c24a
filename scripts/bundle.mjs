// Bundles the program to dist: a file for each command and what several of them share.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
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

await build({
  input: {
    main: 'src/main.ts',
    tool: 'simulator/tools/tool.ts',
    'bcrypt-worker': 'src/exporter/bcrypt-worker.ts',
    // For tests; scripts/tarball.mjs leaves it out.
    testing: 'test/support/program.ts',
  },
  platform: 'node',
  // Native addons, and only for those who run a query service.
  external: ['@clickhouse/client', '@duckdb/node-api'],
  // Loaded by packages, and used by nothing that we use of them: the only body parser in use is express.raw, which decodes
  // no text and no form, and prom-client needs spans for exemplars only.
  resolve: { alias: { 'iconv-lite': false, qs: false, '@opentelemetry/api': false } },
  transform: { define: { BUILD_REVISION: JSON.stringify(revision()) } },
  plugins: [licences],
  output: {
    dir: 'dist',
    cleanDir: true,
    sourcemap: true,
    chunkFileNames: 'chunks/[name]-[hash].js',
    // V8 keeps the source text in memory: two bytes per character if one is beyond Latin-1.
    charset: 'ascii',
    comments: false,
  },
})
