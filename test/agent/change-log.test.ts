import { expect, test } from 'vitest'
import type { Change } from '../../src/core/board.ts'
import { severityOf } from '../../src/domain/event.ts'
import { SourceError } from '../../src/core/errors.ts'
import { createChangeLog } from '../../src/agent/state.ts'

const listening = () => {
  const lines: string[] = []
  const line = (level: string) => (_: object, text: string) => lines.push(`${level} ${text}`)
  const tell = createChangeLog({
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
  })
  return {
    lines,
    tell: (partial: Omit<Change, 'at' | 'from' | 'subject'> & Partial<Change>) => {
      const change = { at: 0, from: undefined, subject: undefined, ...partial }
      tell(change, severityOf(change))
    },
  }
}

const journal = new SourceError({
  doing: 'read the journal',
  happened: 'this user may not read it',
  advice: 'add it to the group',
})
const to = 'failing: could not read the journal: this user may not read it'

test('a shared failure is logged in full once, and again after recovery', () => {
  const { lines, tell } = listening()
  tell({ collector: 'ledger', to, error: journal })
  tell({ collector: 'consensus', to, error: journal })
  tell({ collector: 'ledger', to: 'working' })
  tell({ collector: 'logs', to, error: journal })
  tell({ collector: 'consensus', to: 'working' })
  tell({ collector: 'logs', to: 'working' })
  tell({ collector: 'ledger', to, error: journal })
  const full = 'Could not read the journal: this user may not read it; what to do: add it to the group'
  expect(lines).toEqual([
    `warn ledger: ${full}`,
    `warn consensus: ${to} (same as ledger)`,
    'info ledger: working',
    `warn logs: ${to} (same as consensus)`,
    'info consensus: working',
    'info logs: working',
    `warn ledger: ${full}`,
  ])
})

test('other failures are logged in full, and subjects with their previous state', () => {
  const { lines, tell } = listening()
  tell({ collector: 'ledger', to, error: journal })
  const other = new SourceError({ doing: 'run x', happened: 'exit code 3' })
  tell({ collector: 'status', to: 'failing: could not run x: exit code 3', error: other })
  tell({ collector: 'services', subject: 'bft', from: 'active', to: 'failed (signal 6)' })
  tell({ collector: 'rpc', to: 'silent: no reading in the time one is due' })
  expect(lines.slice(1)).toEqual([
    'warn status: Could not run x: exit code 3',
    'info bft: active → failed (signal 6)',
    'warn rpc: silent: no reading in the time one is due',
  ])
})
