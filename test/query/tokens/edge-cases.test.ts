import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const FOLDERS = ['../', './', '../../cli/'].map((folder) => new URL(folder, import.meta.url))

const numbers = FOLDERS.flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => readFileSync(new URL(name, folder), 'utf8')),
).flatMap((text) => [...text.matchAll(/['"`]edge case (\d\d):/g)])

test('every edge case has a test of its number', () => {
  const wanted = Array.from({ length: 49 }, (_, at) => at + 1)
  const there = new Set(numbers.map(([, number]) => Number(number)))
  expect(wanted.filter((number) => !there.has(number))).toEqual([])
})
