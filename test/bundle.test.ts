import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, type BuildOptions } from 'rolldown'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { run } from './support/programs.ts'

const ROOT = join(import.meta.dirname, '..')

const manifestSchema = z.object({ dependencies: z.record(z.string(), z.string()) })
const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({ version: z.string(), dev: z.boolean().optional(), integrity: z.string().optional() }),
  ),
})
const manifest = manifestSchema.parse(JSON.parse(readFileSync('package.json', 'utf8')))
const lock = lockSchema.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')))

/** The packages of which dist contains code: `name version`. */
const bundled = [...readFileSync('dist/LICENSES.txt', 'utf8').matchAll(/^(?:-{80}\n\n)?(\S+) (\d\S*) \(.*\)$/gm)].map(
  ([, name = '', version = '']) => `${name} ${version}`,
)

test('the lock file has every package of the bundle, and none as a development dependency', () => {
  const production = Object.entries(lock.packages)
    .filter(([, { dev }]) => dev !== true)
    .map(([path, { version }]) => `${path.replace(/^.*node_modules\//, '')} ${version}`)
  expect(bundled.length).toBeGreaterThan(90)
  expect(bundled.filter((one) => !production.includes(one))).toEqual([])
})

test('each package of the lock file has a hash, those of other platforms too', () => {
  const { '': _root, ...packages } = lock.packages
  expect(Object.keys(packages).length).toBeGreaterThan(400)
  const unhashed = Object.entries(packages).filter(
    ([, { integrity }]) => !/^sha512-[\w+/]{86}==$/.test(integrity ?? ''),
  )
  expect(unhashed.map(([path]) => path)).toEqual([])
})

test('each dependency is in the bundle, or in a Debian package', () => {
  const names = bundled.map((one) => one.split(' ')[0])
  const others = Object.keys(manifest.dependencies).filter((name) => !names.includes(name))
  expect(others).toEqual(['@duckdb/node-api'])
})

test('what is replaced by nothing is not in the bundle', () => {
  const replaced = ['iconv-lite', 'qs', '@opentelemetry/api']
  expect(bundled.filter((one) => replaced.includes(one.split(' ')[0] ?? ''))).toEqual([])
})

// The script has no types.
const scriptSchema = z.object({ options: z.custom<BuildOptions>() })
const { options } = scriptSchema.parse(await import(join(ROOT, 'scripts/bundle.mjs')))

/** Builds a file that is not on disk with the options of the bundle, and returns why that fails. */
const failure = async (file: string, code: string): Promise<string> => {
  const path = join(ROOT, file)
  const planted = {
    name: 'planted',
    resolveId: (id: string) => (id === path ? id : null),
    load: (id: string) => (id === path ? code : null),
  }
  try {
    await build({ ...options, input: path, plugins: [planted, options.plugins], write: false })
  } catch (error) {
    return String(error)
  }
  return 'none'
}

test.each([
  ['src/planted.ts', `import iconv from 'iconv-lite'; iconv.decode`],
  ['src/planted.ts', `import 'iconv-lite/encodings/index.js'`],
  ['query/planted.ts', `import { parse } from 'qs'; parse('')`],
  ['simulator/planted.ts', `import { trace } from '@opentelemetry/api'; trace.getTracer('')`],
  ['node_modules/pino/planted.js', `require('iconv-lite')`],
  ['node_modules/raw-body/planted.js', `require('qs')`],
  ['src/planted.ts', `import { DuckDBInstance } from '@duckdb/node-api'; DuckDBInstance.create()`],
  ['src/planted.ts', `import express from 'express'; express.text()`],
  ['src/planted.ts', `import express, { urlencoded, type Request } from 'express'; urlencoded()`],
  ['src/planted.ts', `import express from 'express'; express().set('query parser', 'extended')`],
  ['src/planted.ts', `export const read = (request) => request.query`],
])('the build fails for %s: %s', async (file, code) => {
  expect(await failure(file, code)).toContain('which the bundle does not contain')
})

test.each([
  ['src/planted.ts', `import express from 'express'; express.raw()`],
  ['node_modules/raw-body/planted.js', `require('iconv-lite')`],
  ['src/planted.ts', `await import('@duckdb/node-api')`],
])('the build does not fail for %s: %s', async (file, code) => {
  expect(await failure(file, code)).toBe('none')
})

test('dist has no source maps; those of the build translate a stack trace', async () => {
  const files = readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.js'))
  expect(readdirSync('dist', { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.map'))).toEqual([])
  const source = positionOf(readFileSync('src/exporter/heartbeats.ts', 'utf8'), `'Only agents post heartbeats.'`)
  const traces = files.flatMap((file) => {
    const position = positionOf(readFileSync(join('dist', file), 'utf8'), '`Only agents post heartbeats.`')
    return position === undefined ? [] : [`    at problemOf (file:///usr/lib/chain-agent/dist/${file}:${position})`]
  })
  expect(traces.length).toBe(1)
  const translate = ['scripts/stack-trace.mjs']
  const translated = await run(process.execPath, translate, { input: `Error: text\n${traces[0] ?? ''}` })
  expect(translated.stdout).toBe(`Error: text\n    at problemOf (src/exporter/heartbeats.ts:${source})`)
  const other = '    at file:///usr/lib/chain-agent/dist/chunks/other-00000000.js:1:2'
  const untranslated = await run(process.execPath, translate, { input: other })
  expect([untranslated.stdout, untranslated.code]).toEqual([other, 1])
  expect(untranslated.stderr).toContain('use the maps of the release that wrote the trace')
})

/** `line:column` of a text, both from 1. */
const positionOf = (text: string, part: string): string | undefined => {
  const lines = text.split('\n')
  const index = lines.findIndex((line) => line.includes(part))
  return index < 0 ? undefined : `${index + 1}:${(lines[index] ?? '').indexOf(part) + 1}`
}
