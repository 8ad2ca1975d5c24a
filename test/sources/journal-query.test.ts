import { expect, test } from 'vitest'
import type { Exec, Program } from '../../src/sources/exec.ts'
import { createOldestEntryReader } from '../../src/sources/journal.ts'

const ask = async (chunks: readonly string[]) => {
  const calls: Program[] = []
  let ended = false
  const exec: Exec = {
    run: () => Promise.reject(new Error('not this way')),
    async *stream(program) {
      calls.push(program)
      try {
        for (const chunk of chunks) yield await Promise.resolve(Buffer.from(chunk))
        throw new Error('exit code 0')
      } finally {
        ended = true
      }
    },
    killAll: () => undefined,
  }
  const read = createOldestEntryReader({ exec, parse: (line) => line })
  const found = await read(['-u', 'a.service'], new AbortController().signal).catch(String)
  return { found, calls, ended }
}

test('takes the first line, however it comes, and ends journalctl', async () => {
  const { found, calls, ended } = await ask(['{"fir', 'st"}\n{"sec', 'ond"}\n'])
  expect([found, ended]).toEqual(['{"first"}', true])
  expect(calls).toEqual([
    {
      command: 'journalctl',
      answers: [0],
      args: ['--merge', '-o', 'json', '--output-fields=PRIORITY', '-u', 'a.service'],
    },
  ])
})

test('fails where there is none', async () => {
  expect((await ask([])).found).toBe('Error: exit code 0')
})
