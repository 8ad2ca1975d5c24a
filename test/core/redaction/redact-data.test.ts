import { expect, test } from 'vitest'
import { redactExposition, redactFields } from '../../../src/core/redaction/redact-data.ts'
import type { RedactionKind } from '../../../src/core/redaction/redact-log.ts'

const counted: RedactionKind[] = []
const count = (kind: RedactionKind): void => {
  counted.push(kind)
}
const HEX = 'ab'.repeat(32)

const GONE = '(hex digits)'
const BOOT = '1a'.repeat(16)

test.each([
  { tokens: [{ token: 'USDC', balance: '1' }], url: null, n: 1 },
  { passwordBackup: { ok: 'yes' }, pendingTokens: '12', recovery: 'none', bypass: 'no' },
  { commit: 'ab'.repeat(20), boot: BOOT, blsPublicKey: HEX },
  '/mnt/nvme0n1/ledger',
])('%j stays', (value) => {
  expect(redactFields(value, count)).toEqual(value)
})

test.each(['keystore-password', 'x-api-key', 'authToken', 'seedPhrase', 'api_key', 'privateKey', 'secrets'])(
  'the value of %s is redacted',
  (label) => {
    for (const value of ['x', 'a "b', '/etc/x', 12])
      expect(redactFields({ [label]: value }, count)).toEqual({ [label]: '(redacted)' })
    expect(redactFields({ [label]: ['x'] }, count)).toEqual({ [label]: ['(redacted)'] })
  },
)

test.each([
  [{ note: 'password=x, y' }, { note: 'password=(redacted) y' }],
  [{ line: `at ${HEX}` }, { line: 'at (hex digits)' }],
  [{ lines: [HEX] }, { lines: [GONE] }],
  [{ commit: 'password=x' }, { commit: 'password=(redacted)' }],
  [{ [`at ${HEX}`]: 1 }, { 'at (hex digits)': 1 }],
  [{ passwordHash: HEX }, { passwordHash: GONE }],
  [{ path: '/rpc/AbCd1234EfGh5678' }, { path: '/rpc/(long word)' }],
  [{ url: 'at "http://h/v2/KEY" it\nfailed' }, { url: 'at "http://h/…" it\nfailed' }],
  [
    { 'http://h/v2/KEY1': 1, 'http://h/v2/KEY2': 2 },
    { 'http://h/…': 1, 'http://h/… (2)': 2 },
  ],
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
    page.replace(HEX, GONE).replace('v2/KEY', '…').replace('password=x', 'password=(redacted)'),
  )
  expect(counted.toSorted()).toEqual(['address', 'hex digits', 'labelled'])
})
