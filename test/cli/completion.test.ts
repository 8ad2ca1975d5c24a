import { expect, it } from 'vitest'
import { cli } from '../support/cli.ts'

/** The words of the line as bash splits them. */
it.each([
  ['che', 'words', 'check'],
  ['m', 'words', 'monlog maintenance mcp man'],
  ['maintenance ', 'words', 'start end show'],
  ['maintenance start --re', 'words', '--reason'],
  ['maintenance start --reason ', 'words', 'upgrade hardware network other'],
  ['maintenance start --reason = up', 'words', 'upgrade'],
  ['maintenance start --note start ', 'words', ''],
  ['parse led', 'words', 'ledger-tail'],
  ['parse chrony /proc', 'file', ''],
  ['check --config = /proc', 'file', ''],
  ['check -c ', 'file', ''],
  ['check --config /tmp/x --js', 'words', '--json'],
  ['demo --scenario stal', 'file', 'stalled'],
  ['simulate --directory /proc', 'directory', ''],
  ['check --set rpc.int', 'unfinished', 'rpc.interval='],
  ['check --set rpc.interval = 1', 'unfinished', ''],
  // A shell in which `=` ends no word.
  ['check --set=rpc.int', 'unfinished', '--set=rpc.interval='],
  ['check --set rpc.interval = 1s --log-level w', 'words', 'warn'],
  ['status stora', 'words', 'storage'],
  ['status ledger-t', 'words', 'ledger-tail'],
  ['runbook ChainBlockSt', 'words', 'ChainBlockStalled'],
  ['help monl', 'words', 'monlog'],
  ['completion ', 'words', 'bash'],
  ['invalid ', 'words', ''],
])('%j', async (line, kind, offered) => {
  const { code, out, err } = await cli(['completion', 'bash', '--', ...line.split(' ')])
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const [first, ...words] = out.trimEnd().split('\n')
  expect([first, words.join(' ')]).toEqual([kind, offered])
})
