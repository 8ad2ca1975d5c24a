import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'

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

test('the character tables of the body parser are left out', () => {
  expect(bundled.filter((one) => one.startsWith('iconv-lite '))).toEqual([])
})
