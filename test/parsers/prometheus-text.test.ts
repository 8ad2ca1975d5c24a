import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import { parsePrometheusText, type PrometheusSample } from '../../src/parsers/prometheus-text.ts'

const FIXTURES = new URL('../fixtures/prometheus/', import.meta.url)
const read = (name: string): string => readFileSync(new URL(name, FIXTURES), 'utf8')

const show = ({ name, labels, value, timestampMs }: PrometheusSample): string => {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
  return `${name}{${pairs.join(',')}} ${value}${timestampMs === null ? '' : ` @${timestampMs}`}`
}
const samplesOf = (text: string): readonly string[] => parsePrometheusText(text).samples.map(show)

const NATIVE = 'network="devnet",service_name="devnet_crow",service_version="0.16.4"'
const SCOPE = 'otel_scope_name="opentelemetry",otel_scope_version=""'

const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  'native-0.16.txt': [
    `zephyr_execution_ledger_block_num{${NATIVE}} 7300211`,
    'zephyr_node_info{network="devnet",rack="b \\"2\\"",service_name="devnet_crow",service_version="0.16.4"} 1',
    `zephyr_total_uptime_us{${NATIVE}} 90061000001`,
  ],
  'otel-0.14.txt': [
    `zephyr_execution_ledger_block_num{job="devnet_crow",network="devnet",${SCOPE},service_name="devnet_crow",service_version="0.14.1"} 7300211 @1780000000125`,
    'zephyr_rpc_request_duration_seconds_bucket{job="crow",service_name="crow",le="1e-06"} 0 @1780000000130',
    'zephyr_rpc_request_duration_seconds_bucket{job="crow",service_name="crow",le="+Inf"} 77 @1780000000130',
    'zephyr_rpc_request_duration_seconds_sum{job="crow",service_name="crow"} 0.0625 @1780000000130',
    'target_info{job="devnet_crow",service_name="devnet_crow"} 1 @1780000000125',
  ],
  'otel-0.12.txt': [
    'zephyr_total_uptime_us{job="crow"} 90061000001 @1780000000125',
    'zephyr_node_info{job="crow",service_version="0.12.3"} 1 @1780000000125',
  ],
  // Times are seconds there; exemplars are passed over.
  'openmetrics.txt': [
    'zephyr_total_uptime_us{job="crow"} 90061000001 @1780000000125',
    'requests_total{path="/a # b"} 17 @1780000001000',
    'requests_created{path="/a # b"} 1779000000',
  ],
  'bom-crlf.txt': ['a{} 1', 'b{x="1"} -0.0025 @1780000000125'],
  'odd.txt': [
    'plain{} 3',
    'spaced{a="1",b="2"} 4 @-5',
    ':recorded:rate5m{} Infinity',
    'minus{} -Infinity',
    'nothing{} NaN',
    'lower{} NaN',
    'dot{} 0.5',
    'dotted{} 5',
    `text{v=${JSON.stringify('a \\ b "c" \n d } , e="f" # g')}} 1`,
    'empty{} 2',
    '__proto__{__proto__="x"} 1',
  ],
  'malformed.txt': ['good{} 1'],
  'cut.txt': ['whole{a="1"} 4.1'],
  'empty.txt': [],
  'comments.txt': [],
}

test.each(Object.entries(EXPECTED))('%s', (name, expected) => {
  expect(samplesOf(read(name))).toEqual(expected)
})

test('every fixture is in the table', () => {
  expect(readdirSync(FIXTURES).toSorted()).toEqual(Object.keys(EXPECTED).toSorted())
})

test('lines that are not of the format are counted, and the first is kept', () => {
  expect(parsePrometheusText(read('malformed.txt'))).toMatchObject({
    unknownLines: 12,
    firstUnknown: 'no_value',
  })
  // What has no line feed behind it is cut: 4.19 may have been 4.19e+07.
  expect(parsePrometheusText(read('cut.txt'))).toMatchObject({
    unknownLines: 1,
    firstUnknown: 'cut{a="1"} 4.19',
  })
  expect(parsePrometheusText(read('odd.txt')).unknownLines).toBe(0)
})

test.each([
  ['a page', '<!doctype html>\n<html><body>502 Bad Gateway</body></html>\n'],
  ['JSON', '{"status":"ok"}\n'],
  ['one line that was cut', 'zephyr_total_uptime_us 9'],
  ['a text with more lines', 'a 1\n'.repeat(60_000)],
  ['a text with more characters', `a{b="${'c'.repeat(2_100_000)}"} 1\n`],
])('%s is not of the format', (_, text) => {
  expect(() => parsePrometheusText(text)).toThrow(ParseError)
})

test('a line has 16,384 characters at most: a longer one is an error, and not left out of a sum', () => {
  const line = (length: number): string => `a{b="${'c'.repeat(length - 9)}"} 1`
  expect(parsePrometheusText(`${line(16_384)}\nb 1\n`).samples).toHaveLength(2)
  expect(() => parsePrometheusText(`${line(16_385)}\nb 1\n`)).toThrow('expected lines of 16384 characters at most')
})

test('escapes, from left to right', () => {
  const label = (text: string): unknown => parsePrometheusText(`a{b="${text}"} 1\n`).samples[0]?.labels['b']
  expect(label(String.raw`\n\\n\"\\\n\x`)).toBe('\n\\n"\\\n\\x')
})

test('a sample has 64 labels at most', () => {
  const sample = (labels: number): string => `a{${'b="1",'.repeat(labels)}} 1\n`
  expect(parsePrometheusText(sample(64)).samples).toHaveLength(1)
  expect(parsePrometheusText(`${sample(65)}b 1\n`)).toMatchObject({ samples: [{ name: 'b' }], unknownLines: 1 })
})

test('the error shows only the beginning', () => {
  expect(() => parsePrometheusText('<html>\n<p>Sign in</p>\n')).toThrowErrorMatchingInlineSnapshot(`
    [ParseError: Could not parse metrics in the text format of Prometheus: expected lines of a name, labels and a value
      input: <html> ⏎ <p>Sign in</p>]
  `)
})

describe('everything that is written is parsed', () => {
  const word = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/)
  const escape = (text: string): string =>
    text
      .replaceAll('\\', String.raw`\\`)
      .replaceAll('\n', String.raw`\n`)
      .replaceAll('"', String.raw`\"`)
  const sample = fc.record({
    name: word,
    labels: fc.dictionary(
      word,
      fc.string({ unit: 'binary' }).filter((text) => !/\r/.test(text)),
      {
        maxKeys: 4,
      },
    ),
    value: fc.double(),
    timestampMs: fc.option(fc.integer({ min: -(10 ** 14), max: 10 ** 14 })),
  })
  const number = (value: number): string => String(value).replace('Infinity', 'Inf')

  test('by hand', () => {
    fc.assert(
      fc.property(fc.array(sample), (samples) => {
        const text = samples.map(({ name, labels, value, timestampMs }) => {
          const pairs = Object.entries(labels).map(([label, said]) => `${label}="${escape(said)}"`)
          return `${name}{${pairs.join(',')}} ${number(value)}${timestampMs === null ? '' : ` ${timestampMs}`}\n`
        })
        expect(samplesOf(text.join(''))).toEqual(samples.map(show))
      }),
    )
  })

  test('by prom-client', async () => {
    const registry = new Registry()
    const registers = [registry]
    const gauge = new Gauge({ name: 'g', help: 'a\nb', labelNames: ['l'], registers })
    gauge.set({ l: 'a "b" \\n \n {}' }, -1.5e-9)
    new Counter({ name: 'c_total', help: 'c', registers }).inc(1e21)
    new Histogram({ name: 'h', help: 'h', buckets: [1], registers }).observe(3)
    expect(samplesOf(await registry.metrics())).toEqual([
      `g{l=${JSON.stringify('a "b" \\n \n {}')}} -1.5e-9`,
      'c_total{} 1e+21',
      'h_bucket{le="1"} 0',
      'h_bucket{le="+Inf"} 1',
      'h_sum{} 3',
      'h_count{} 1',
    ])
  })
})

test('a name in quotation marks may contain any character, and so may a label', () => {
  const text = [
    '{"a.b"} 1',
    '{"a.b",label="x"} 2 1780000000125',
    '{ "with \\"marks\\" and {}" , "l.m" = "y", } 3',
    'c{"l.m"="z",n="w"} 4',
  ]
  expect(samplesOf(`${text.join('\n')}\n`)).toEqual([
    'a.b{} 1',
    'a.b{label="x"} 2 @1780000000125',
    'with "marks" and {}{l.m="y"} 3',
    'c{l.m="z",n="w"} 4',
  ])
})

test.each([
  '{"a.b"',
  '{"a.b" 1',
  '{a.b} 1',
  '{"a.b"label="x"} 1',
  '{"a.b","l"} 1',
  '{""} 1',
  '{"status":"ok"}',
  '{"a.b"}',
])('an unparsed line: %s', (line) => {
  expect(parsePrometheusText(`good 1\n${line}\n`)).toMatchObject({ unknownLines: 1, firstUnknown: line })
})
