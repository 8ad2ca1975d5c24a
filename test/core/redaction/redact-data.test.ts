import { expect, test } from 'vitest'
import { redactExposition, redactFields } from '../../../src/core/redaction/redact-data.ts'
import type { RedactionKind } from '../../../src/core/redaction/redact-log.ts'

const counted: RedactionKind[] = []
const count = (kind: RedactionKind): void => {
  counted.push(kind)
}
const HEX = 'ab'.repeat(32)

test.each([
  [
    { tokens: [{ token: 'USDC', balance: '1' }], url: null, n: 1 },
    { tokens: [{ token: 'USDC', balance: '1' }], url: null, n: 1 },
  ],
  [
    { password: 'a "b', api_key: 'x', note: 'password=x, y' },
    { password: '(redacted)', api_key: '(redacted)', note: 'password=(redacted) y' },
  ],
  [
    { passwordBackup: { ok: 'yes' }, pendingTokens: '12', recovery: 'none', bypass: 'no' },
    { passwordBackup: { ok: 'yes' }, pendingTokens: '12', recovery: 'none', bypass: 'no' },
  ],
  [
    { commit: 'ab'.repeat(20), boot: '1a'.repeat(16), blsPublicKey: HEX },
    { commit: 'ab'.repeat(20), boot: '1a'.repeat(16), blsPublicKey: HEX },
  ],
  [
    { line: `at ${HEX}`, lines: [HEX] },
    { line: 'at (hex digits)', lines: ['(hex digits)'] },
  ],
  [
    { changes: [`chain_x{boot="${'1a'.repeat(16)}",line="at ${HEX}"}: absent, was ${HEX}`] },
    { changes: [`chain_x{boot="${'1a'.repeat(16)}",line="at (hex digits)"}: absent, was (hex digits)`] },
  ],
  [{ commit: 'password=x' }, { commit: 'password=(redacted)' }],
  [{ [`at ${HEX}`]: 1 }, { 'at (hex digits)': 1 }],
  [
    { 'keystore-password': 'x', 'x-api-key': 'x', authToken: 'x', seedPhrase: 'a b', privateKey: 12, secrets: ['x'] },
    {
      'keystore-password': '(redacted)',
      'x-api-key': '(redacted)',
      authToken: '(redacted)',
      seedPhrase: '(redacted)',
      privateKey: '(redacted)',
      secrets: ['(redacted)'],
    },
  ],
  [
    { password: '/etc/x', passwordHash: HEX, path: '/rpc/AbCd1234EfGh5678' },
    { password: '(redacted)', passwordHash: '(hex digits)', path: '/rpc/(long word)' },
  ],
  [{ url: 'at "http://h/v2/KEY" it\nfailed' }, { url: 'at "http://h/…" it\nfailed' }],
  [
    { 'https://h/v2/KEY1aaaa': 1, 'https://h/v2/KEY2bbbb': 2 },
    { 'https://h/…': 1, 'https://h/… (2)': 2 },
  ],
  ['/mnt/nvme0n1/ledger', '/mnt/nvme0n1/ledger'],
  ['at /mnt/disk-K1mdEf2GhQ9/ledger', 'at /mnt/(long word)/ledger'],
])('%j', (value, redacted) => {
  expect(redactFields(value, count)).toEqual(redacted)
})

test('metrics keep their names and help; each value of a label is judged on its own', () => {
  const page = `# HELP chain_x Some, or all tasks of the host are waiting for the next turn with other work and then the rest.
chain_x{token="USDC",commit="${'ab'.repeat(20)}",Line2="at ${HEX} \\"http://h/v2/KEY\\" password=x"} 1
`
  counted.length = 0
  expect(redactExposition(page, count)).toBe(
    page.replace(HEX, '(hex digits)').replace('v2/KEY', '…').replace('password=x', 'password=(redacted)'),
  )
  expect(counted.toSorted()).toEqual(['address', 'hex digits', 'labelled'])
})
