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

const FOUND = '/proc/self/stat'
const BY_BASH: readonly (readonly [line: string, offered: string | RegExp])[] = [
  ['che', 'check'],
  ['m', 'monlog mcp maintenance man'],
  ['maintenance ', 'start end show'],
  ['maintenance start --re', '--reason'],
  ['maintenance start --reason ', 'upgrade hardware network other'],
  // Bash cuts the word at "=".
  ['maintenance start --reason = up', 'upgrade'],
  ['maintenance start --note start ', ''],
  ['parse l', 'ledger-tail log-patterns'],
  [`parse rpc ${FOUND}`, /\/proc\/self\/stat \/proc\/self\/statm|\/proc\/self\/status/],
  ['check --config /proc/self/mountst', '/proc/self/mountstats'],
  ['check --config = /proc/self/mountst', '/proc/self/mountstats'],
  ['check -c /proc/self/mountst', '/proc/self/mountstats'],
  ['check --config /tmp/x --js', '--json'],
  ['demo --scenario stal', 'stalled'],
  ['simulate --directory /proc/self/task', '/proc/self/task'],
  ['check --set rpc.int', 'rpc.interval='],
  ['check --set rpc.interval = 1', ''],
  ['check --set rpc.interval = 1s --log-level w', 'warn'],
  ['status stora', 'storage'],
  ['status ledger-t', 'ledger-tail'],
  ['runbook ChainBlockSt', 'ChainBlockStalled'],
  ['help monl', 'monlog'],
  ['completion ', 'bash zsh'],
  ['invalid ', ''],
]

describe('bash', () => {
  it('offers what may come next', async () => {
    const { out } = await cli(['completion', 'bash'])
    const lines = BY_BASH.map(([line]) => ['chain-agent', ...line.split(' ')])
    const offered = await askBash(out, lines)
    for (const [index, [line, expected]] of BY_BASH.entries()) {
      expect(offered[index], line).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected))
    }
  })
})

const BY_ZSH: readonly (readonly [typed: string, completed: string])[] = [
  ['che', 'check '],
  ['maint', 'maintenance '],
  ['maintenance st', 'maintenance start '],
  ['maintenance start --reason up', 'maintenance start --reason upgrade '],
  ['maintenance start --reason=up', 'maintenance start --reason=upgrade '],
  ['maintenance start 30m --not', 'maintenance start 30m --note='],
  ['parse led', 'parse ledger-tail '],
  ['parse rpc /proc/self/mountst', 'parse rpc /proc/self/mountstats '],
  ['check --conf', 'check --config='],
  ['check --config /proc/self/mountst', 'check --config /proc/self/mountstats '],
  ['demo --scenario stall', 'demo --scenario stalled '],
  // Both begin so: the line goes as far as they agree.
  ['demo --scenario state', 'demo --scenario statesync'],
  ['check --set rpc.int', 'check --set rpc.interval='],
  ['check --log-level w', 'check --log-level warn '],
  ['status stora', 'status storage '],
  ['help maint', 'help maintenance '],
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
