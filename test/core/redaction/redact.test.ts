import { expect, test } from 'vitest'
import { redact, redactAll, redactUrl } from '../../../src/core/redaction/redact.ts'

test.each([
  ['http://localhost:8080', 'http://localhost:8080'],
  ['http://localhost:8080/', 'http://localhost:8080'],
  ['https://node.example/v2/SECRETKEY', 'https://node.example/…'],
  ['https://user:secret@node.example', 'https://node.example/…'],
  ['https://node.example/?key=SECRET', 'https://node.example/…'],
  ['invalid', '(not a URL)'],
  ['clickhouse://a:8123,b:8123', 'clickhouse://a:8123,b:8123'],
  ['clickhouse://user@a:8123,[::1]:8123/logs?cluster=c', 'clickhouse://a:8123,[::1]:8123/…'],
  ['clickhouse://user:SECRET@a,b/logs', 'clickhouse://a,b/…'],
  ['clickhouse://user:SEC,RET/SECRET@a,b/logs', '(not a URL)'],
  ['clickhouse://user:1,2/SECRET@a,b/logs', '(not a URL)'],
])('what is shown of the address %s', (url, expected) => {
  expect(redactUrl(url)).toBe(expected)
})
test('an address in the middle of a text', () => {
  expect(redact('Could not ask http://localhost:8080: no connection.')).toBe(
    'Could not ask http://localhost:8080: no connection.',
  )
  expect(redact('(see https://h.example/KEY).')).toBe('(see https://h.example/…).')
})

test.each([
  [
    'open /home/operator/x.yaml: asked https://h.example/KEY, and /root/y',
    'open ~/x.yaml: asked https://h.example/…, and ~/y',
  ],
  ['"/home/op.1"', '"~"'],
  ['HOME=/root', 'HOME=~'],
  ['/rootfs /homes/x /home /var/lib/home-x', '/rootfs /homes/x /home /var/lib/home-x'],
])('home directories: %s', (text, expected) => {
  expect(redact(text)).toBe(expected)
})

test('every text of a value is redacted: in lists, maps and errors, and as a name', () => {
  const [shown, given] = [
    ['at ~/x', 'https://h/…'],
    ['at /home/op/x', 'https://h/\u001B[31mKEY'],
  ]
  const valueOf = (texts: readonly string[]) => ({
    n: 1,
    none: null,
    list: [texts],
    map: new Map([[texts[0], { text: texts[1] }]]),
    error: new Error(texts[0]),
    [texts[1] ?? '']: true,
  })
  expect(redactAll(valueOf(given))).toEqual(valueOf(shown))
})

test('addresses are found in time, however long what is none', () => {
  const began = process.cpuUsage()
  redact('aB1+'.repeat(50_000))
  expect(process.cpuUsage(began).user).toBeLessThan(1_000_000)
  expect(redact(`${'a'.repeat(30)}://u:hunter2@host`)).not.toContain('hunter2')
})
