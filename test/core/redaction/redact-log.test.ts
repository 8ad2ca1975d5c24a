import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sanitize } from '../../../src/core/redaction/redact.ts'
import { type RedactionKind, redactDocument, redactLog } from '../../../src/core/redaction/redact-log.ts'

const HASH = '0x' + 'a1'.repeat(32)
const hexDigit = fc.constantFrom(...'0123456789abcdef'.split(''))
const PUBLIC_KEY = `02${'c3'.repeat(32)}`

describe('the table of examples', () => {
  const table = readFileSync('src/core/redaction/README.md', 'utf8')
  const rows = [...table.matchAll(/^\| `(?<line>.*?)` +\| (?:`(?<redacted>.*?)`|unchanged) +\|$/gm)]
  test('has every kind', () => {
    expect(rows.length).toBeGreaterThan(30)
  })
  test.each(rows.map(({ groups = {} }) => [groups['line'] ?? '', groups['redacted'] ?? groups['line']]))(
    '%s',
    (line, after) => {
      expect(redactLog(line)).toBe(after)
    },
  )
})

test.each([
  [String.raw`{"password":"hun\"ter2","n":1}`, '{"password":"(redacted)","n":1}'],
  [
    String.raw`{"m":"x {\"password\":\"hunter2\",\"n\":1}","b":2}`,
    String.raw`{"m":"x {\"password\":\"(redacted)\",\"n\":1}","b":2}`,
  ],
  ['Authorization: Bearer abc, def', 'Authorization: Bearer (redacted)'],
  ['password=missing', 'password=(redacted)'],
  ['password is missing-hunter2', 'password is (redacted)'],
  [`keystore at 0x${'1a'.repeat(20)}`, 'keystore at (long word)'],
  [`at 0x${'1a'.repeat(21)}`, 'at (long word)'],
  [`at ${'1a'.repeat(20)}`, 'at (long word)'],
  ['sent bearer abc/def', 'sent bearer (redacted)'],
  [`Keep your IKM secure: ${'ab'.repeat(32)}`, 'Keep your IKM (redacted) (hex digits)'],
  [`at ${'ab'.repeat(32)}`, 'at (hex digits)'],
  [`secret of ${PUBLIC_KEY}`, 'secret of (hex digits)'],
  [`x${PUBLIC_KEY}`, 'x(hex digits)'],
  [`got ${'0a'.repeat(16)}`, 'got (long word)'],
  ['password for keystore: hunter2', 'password for keystore: (redacted)'],
  [`"${'abandon","'.repeat(11)}about"`, '"(redacted)"'],
  [`${'abandon, ability; '.repeat(6)}.`, '(redacted); .'],
  ['aban abil able abou abov abse abso abst absu abus acce acci', '(redacted)'],
  ['legl winner thank year wave sausage worth useful legal winner thank yelow', '(redacted)'],
  [`it is ${'abandon ability about '.repeat(4)}art.`, 'it is (redacted).'],
  ['\u001B[31mpass\u001B[0mword=hunter2\u0007', 'password=(redacted)'],
  ['KEYSTORE_PASSWORD=correct horse battery', 'KEYSTORE_PASSWORD=(redacted)'],
  ['["KEYSTORE_PASSWORD=correct horse","b"]', '["KEYSTORE_PASSWORD=(redacted)","b"]'],
  ['pass\u200Bword=hunter2', 'password=(redacted)'],
  ['pass\u001B(Bword=hunter2', 'password=(redacted)'],
  ['pass\u009B31mword=hunter2', 'password=(redacted)'],
  ['pass\uFFFD31mword=hunter2', 'password=(redacted)'],
  ['pass\u0000word=hunter2', 'password=(redacted)'],
  [String.raw`{"pass\u200bwor\u0064":"hunter2"}`, '{"password":"(redacted)"}'],
  [String.raw`"pass\u{1b}[0mword=hunter2"`, '"password=(redacted)"'],
  [String.raw`pass\x1b[0mword=hunter2`, 'password=(redacted)'],
  ['{"passphrase":"correct horse","n":1}', '{"passphrase":"(redacted)","n":1}'],
  ['Secret { inner: "hunter2" }', 'Secret (redacted)'],
  ['secret --keystore-password hunter2', 'secret (redacted)'],
  ['secret password hunter2', 'secret (redacted) (redacted)'],
  [String.raw`password='hun'\''ter2' --x`, "password='(redacted)' --x"],
  [`${'abandon '.repeat(12)}password hunter2`, '(redacted) password (redacted)'],
  [`bytes [${'192, '.repeat(31)}255]`, 'bytes [(hex digits)]'],
  [`bytes [${'0x1f,'.repeat(15)}0xff]`, 'bytes [(hex digits)]'],
  [`at ${'ab:'.repeat(31)}cd`, 'at (hex digits)'],
  [`at ${'ab12 '.repeat(15)}ef01.`, 'at (hex digits).'],
  ['to rpc.example.net/v2/a1b2c3d4e5 again', 'to rpc.example.net/… again'],
  ['got eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl', 'got (long word)'],
])('a possible secret is redacted: %s', (line, expected) => {
  expect(redactLog(line)).toBe(expected)
})

test.each([
  `{"message":"proposal","author":"${PUBLIC_KEY}","block_id":"9f9f..0101"}`,
  `{"parentHash":"${HASH}"} state_root=${HASH} tx ${HASH} root: Some(${HASH})`,
  `__exec_block,bl=41000111,id=${HASH},ts=1772526600450,tx=    0,txe= 1234567µs,rtp=25.00%`,
  '2026-03-03 08:30:00.504000001 [811] runloop_zephyr.cpp:318 LOG_INFO tps =   198',
  'Main process exited, code=exited, status=101/n/a',
  'zephyr_raptorcast_secondary_v2 at ip-10-0-0-12-eu-west in zephyr-consensus-state/src/lib.rs',
  `InvocationID=${'0a'.repeat(16)} commit="${'0a'.repeat(20)}" ExecMainStartTimestamp=Thu`,
  'eth_getBlockByNumber at NextElapseUSecRealtime=',
  'invalid TimeoutCertificateWithSignatures from RaptorCastSecondaryClient',
  'all passed: 3, passing 4, task: 5, {"one":1,"two":2,"three":3,"four":4,"five":5,"six":6}',
  `this service keeps only logs of 0x${'1A'.repeat(20)} or 0x${'2b'.repeat(20)}; name them`,
  `with topic0 ${HASH}`,
  'an API key is needed: send it as a header',
  'the API key is not one of this service',
  'password required, token expired.',
  'scraped localhost:9843/metrics and host:9843/api/v1/status at src/lib.rs:412:17',
  'groups of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12',
])('information for operators stays: %s', (line) => {
  expect(redactLog(line)).toBe(line)
})

test('an address of 20 bytes stays, and no other number of digits does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 16, max: 80 }), fc.infiniteStream(hexDigit), (length, stream) => {
      const digits = `0x${[...stream.take(length)].join('')}`
      const line = `sent to ${digits} in round 70123`
      // 66 digits after 02 or 03 are a public key.
      fc.pre(!(length === 66 && /^0x0[23]/.test(digits)))
      if (length === 40) expect(redactLog(line)).toBe(line)
      else expect(redactLog(line)).not.toContain(digits)
    }),
    { seed: 7, numRuns: 2000 },
  )
})

/** Secrets of each kind, in the forms in which they occur. */
const word = fc.stringMatching(/^[A-Za-z0-9!#$%&*+,./;<>?@^_|~-]{6,24}$/)
const hex = (bytes: number) =>
  fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((raw) => Buffer.from(raw).toString('hex'))
const random = fc.noBias(fc.uint8Array({ minLength: 24, maxLength: 48 })).map((raw) => Buffer.from(raw))
const label = fc.constantFrom(
  'password',
  'KEYSTORE_PASSWORD',
  'keystorePassword',
  'passphrase',
  'ikm',
  'secret',
  'api_key',
  'private key',
  'auth-token',
  'session_key',
  'cookie',
)
const sign = fc.constantFrom('=', ': ', ' = ', ' is ', '=>')
const planted = fc.oneof(
  fc.tuple(label, sign, word).map(([name, is, secret]) => [`${name}${is}${secret}`, secret]),
  fc.tuple(label, word).map(([name, secret]) => [`{"${name}":"${secret}","n":1}`, secret]),
  fc
    .tuple(label, fc.string({ minLength: 6, maxLength: 30 }))
    .map(([name, secret]) => [JSON.stringify({ a: 1, [name]: `${secret}zq` }), `${secret}zq`]),
  fc
    .tuple(label, word)
    .map(([name, secret]) => [JSON.stringify({ m: `sent ${JSON.stringify({ [name]: secret })} off` }), secret]),
  fc.tuple(fc.constantFrom('', '0x', 'key=', 'key: '), hex(32)).map(([is, s]) => [`${is}${s}`, s]),
  hex(48).map((secret) => [secret, secret]),
  random.map((raw) => [raw.toString('base64url'), raw.toString('base64url')]),
  random.map((raw) => [`"${raw.toString('base64')}"`, raw.toString('base64')]),
  fc.uuid().map((secret) => [`id ${secret}`, secret]),
  word.map((secret) => [`--keystore-password ${secret}`, secret]),
  hex(8).map((secret) => [`Bearer ${secret}`, secret]),
  hex(8).map((secret) => [`https://me:${secret}@host.example/x`, secret]),
  hex(8).map((secret) => [`https://host.example/v2/${secret}`, secret]),
  hex(8).map((secret) => [`me:${secret}@host.example`, secret]),
)
/** What stands around it, in any order: words, signs and numbers that label nothing. */
const WORDS = `round 70123 { } "x": got — [811] é TimeoutCertificate \u001B[31m \t ${PUBLIC_KEY} LOG_INFO 12.5% ' author= (`
const around = fc
  .array(fc.constantFrom(...WORDS.split(' '), 'at src/lib.rs:412:17:'), { maxLength: 8 })
  .map((words) => words.join(' '))

describe('a planted secret', () => {
  test('of any kind is redacted in every position', () => {
    fc.assert(
      fc.property(around, planted, around, (before, [text = '', secret = ''], after) => {
        const line = `${before} ${text} ${after}`
        const written = JSON.stringify(secret).slice(1, -1)
        const redacted = redactLog(line)
        expect(redacted).not.toContain(secret)
        expect(redacted).not.toContain(written)
        expect(redactLog(redacted)).toBe(redacted)
      }),
      { seed: 7, numRuns: 5000 },
    )
  })

  test('is counted by its kind, and once', () => {
    const counted: RedactionKind[] = []
    const count = (kind: RedactionKind): void => {
      counted.push(kind)
    }
    const line = `password=a ${'ab'.repeat(32)} https://h/v2/k mnemonic a b`
    redactLog(redactLog(line, count), count)
    expect(counted.toSorted()).toEqual(['address', 'hex digits', 'labelled', 'phrase'])
  })
})

test('a document of chain-agent keeps its figures, although their names are those of secrets', () => {
  const text = '# TYPE chain_keystore_password_ok gauge\nchain_keystore_password_ok{key="secp"} 1\n'
  expect(redactDocument(text)).toBe(text)
  expect(redactDocument(`a: 1\npassword: hunter2\nhash: ${HASH}\n`)).toBe(`a: 1\npassword: (redacted)\nhash: ${HASH}\n`)
})

test.each([
  'tokens=CanaryOfTokens',
  'tokens: CanaryOfTokens',
  '"tokens":"CanaryOfTokens"',
  '"tokens":["CanaryOfTokens"]',
  '"token":{"value":"CanaryOfTokens"}',
])('tokens are secrets: %j', (text) => {
  expect(redactDocument(text)).not.toContain('Canary')
  expect(redactLog(text)).not.toContain('Canary')
})

test('a megabyte without an end is redacted in seconds', () => {
  for (const piece of [
    'a',
    'token',
    'tokens: ',
    'a.',
    'ab12',
    '"',
    '\\',
    'abandon ',
    '/',
    'x:y@',
    '::',
    'is ',
    'so-long-',
    'aB1-',
    'a1_',
    'Ab',
    '=',
    'secret ',
    ' ',
    '[',
    'a/B1',
    'hash=',
    '0x',
    'bearer ',
    'cookie: "',
    'IKM=',
    'password for a',
    'abandon, 1. ',
    '\\u001b',
    '\u009B',
    '\u001B[',
    '\u001B]',
  ]) {
    const text = piece.repeat(Math.ceil(1_000_000 / piece.length))
    const began = process.cpuUsage()
    redactLog(text)
    expect([piece, process.cpuUsage(began).user < 3_000_000]).toEqual([piece, true])
  }
})

test('terminal control sequences are removed', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      expect(sanitize(`\u001B]0;title\u0007${text}\u001B[2J`)).not.toMatch(/(?!\n)\p{Cc}/u)
    }),
    { seed: 3 },
  )
  expect(sanitize('a\tb\r\nc\rd')).toBe('a b\nc\uFFFDd')
})
