import { expect, it } from 'vitest'
import { cli } from '../support/cli.ts'
import { must } from '../support/programs.ts'
import { type Probe, requireRealPart } from '../support/real-parts.ts'
import { askBash, askZsh, versionOfZsh } from '../support/shells.ts'
import { temporaryFolder } from '../support/directory.ts'

const probe = async (): Promise<Probe> => {
  try {
    const bash = await must('bash', ['-c', 'echo $BASH_VERSION'])
    return { version: `bash ${bash.trim()}, zsh ${await versionOfZsh()}` }
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
  ['parse rpc /proc/self/stat', /\/proc\/self\/stat \/proc\/self\/statm|\/proc\/self\/status/],
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

const BY_ZSH: readonly (readonly [typed: string, completed: string])[] = [
  ['che', 'check '],
  ['maintenance start --reason up', 'maintenance start --reason upgrade '],
  ['maintenance start --reason=up', 'maintenance start --reason=upgrade '],
  ['check --config /proc/self/mountst', 'check --config /proc/self/mountstats '],
  ['check --config=/proc/self/mountst', 'check --config=/proc/self/mountstats '],
  // Both begin so: the line goes as far as they agree.
  ['demo --scenario state', 'demo --scenario statesync'],
  ['check --set rpc.int', 'check --set rpc.interval='],
  ['invalid', 'invalid'],
]

describe('zsh', () => {
  it('completes what was typed', async () => {
    const { out } = await cli(['completion', 'zsh'])
    const typed = BY_ZSH.map(([line]) => line)
    const completed = await askZsh(folder, out, typed)
    for (const [index, [line, expected]] of BY_ZSH.entries()) {
      expect(completed[index], line).toBe(`chain-agent ${expected}`)
    }
  })
})
