import { expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { must } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'
import { temporaryFolder } from '../support/directory.ts'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const MAIN = join(import.meta.dirname, '../../dist/main.js')

/** A search path with the built program, which the scripts call. */
const pathWith = async (folder: string): Promise<string> => {
  const program = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`
  await writeFile(join(folder, 'chain-agent'), program, { mode: 0o755 })
  return `${folder}:${process.env['PATH'] ?? ''}`
}

/** What bash offers for each command line, whose last word is the one that is being typed. */
const askBash = async (
  folder: string,
  script: string,
  lines: readonly (readonly string[])[],
): Promise<readonly string[]> => {
  const tries = lines.map(
    (words) => `COMP_WORDS=(${words.map(quote).join(' ')}); COMP_CWORD=${words.length - 1}; COMPREPLY=(); ${CALL}`,
  )
  const env = { PATH: await pathWith(folder) }
  const out = await must('bash', ['--norc', '--noprofile', '-c', [script, ...tries].join('\n')], { env })
  return out.split('\n')
}

/** The completion function that bash has registered. */
const CALL = '$(complete -p chain-agent | sed "s/.*-F \\([^ ]*\\).*/\\1/"); echo "${COMPREPLY[*]}"'

const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`

const probe = async (): Promise<Probe> => {
  try {
    const bash = await must('bash', ['-c', 'echo $BASH_VERSION'])
    return { version: `bash ${bash.trim()}` }
  } catch (error) {
    return { missing: String(error) }
  }
}

const describe = await requireRealPart('shells', probe)

const folder = await temporaryFolder()

/** test/cli/completion.test.ts has what the program offers; here is what the scripts make of it. */
const BY_BASH: readonly (readonly [line: string, offered: string | RegExp])[] = [
  ['che', 'check'],
  // Bash cuts the word at "=".
  ['maintenance start --reason = up', 'upgrade'],
  ['maintenance start --reason =', 'upgrade hardware network other'],
  ['parse chrony /proc/self/stat', /\/proc\/self\/stat \/proc\/self\/statm|\/proc\/self\/status/],
  ['check --config = /proc/self/mountst', '/proc/self/mountstats'],
  ['demo --scenario stal', 'stalled'],
  ['simulate --directory /proc/self/task', '/proc/self/task'],
  ['check --set rpc.int', 'rpc.interval='],
  ['invalid ', ''],
]

describe('bash', () => {
  it('offers what may come next', async () => {
    const { out } = await cli(['completion', 'bash'])
    const lines = BY_BASH.map(([line]) => ['chain-agent', ...line.split(' ')])
    const offered = await askBash(folder, out, lines)
    for (const [index, [line, expected]] of BY_BASH.entries()) {
      expect(offered[index], line).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
    }
  })
})
