import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEndpoint } from '../../query/client/endpoint.ts'
import { scanCoverage } from '../../query/client/coverage-scan.ts'
import { readPage } from '../../query/client/page.ts'
import { createErrorFactory } from '../../query/client/errors.ts'

const queryError = createErrorFactory('read', createEndpoint({ url: 'http://host', apiKey: null }))
const shapeError = (happened: string): Error => new Error(happened)
const scanned = (text: string) => scanCoverage(Buffer.from(text), 9, shapeError)

const LOG = '{"block_number":7,"log_index":0,"data":"0x01"}'
const page = (logs: string, rest = ',"next_block":10'): string => `{"data":[{"logs":[${logs}]}]${rest}}`

describe('the coverage of a page without parsing it', () => {
  it('is found in a plain page, wherever the envelope is', () => {
    const both = `${LOG},${LOG.replace('7', '9')}`
    const seen = { logs: 2, lowest: 7, highest: 9 }
    expect(scanned(page(both))).toMatchObject({ ...seen, envelope: { next: 10 } })
    expect(scanned(`{"next_block":10,"data":[{"logs":[${both}]}]}`)).toMatchObject({ ...seen, envelope: { next: 10 } })
    expect(scanned(page(both.replaceAll(':', ' :\n ')))).toMatchObject(seen)
    expect(scanned('{ "data" : [ ] }')).toMatchObject({ logs: 0, highest: -1 })
  })
  it.each([
    ['an escape', page(LOG.replace('block_number', String.raw`block\u005fnumber`))],
    ['a number as text', page(LOG.replace('7', '"7"'))],
    ['a number with a fraction', page(LOG.replace('7', '7.0'))],
    ['a number of sixteen digits', page(LOG.replace('7', '1000000000000007'))],
    ['a block number that is not of a log', page(LOG).replace('{"logs"', '{"block_number":7,"logs"')],
    ['a log without a block number', page(`${LOG},{"log_index":1}`)],
    ['a part of the envelope among the logs', `{"data":[],"next_block":10,"blocks":[]}`],
    ['another list named data', `{"meta":{"data":[]},"data":[{"logs":[${LOG}]}]}`],
    ['no data', '{"next_block":10}'],
    [
      'a log whose keys are written with escapes',
      page(`${LOG},${String.raw`{"block\u005fnumber":70,"log\u005findex":0}`}`),
    ],
    ['a log instead of an object with logs', `{"data":[${LOG}]}`],
    ['a list instead of an object', `[${page(LOG)}]`],
    ['invalid JSON', '{"data":[]'],
  ])('is undefined with %s', (_, text) => {
    expect(scanned(text)).toBeUndefined()
  })
})

describe('logs of the extra block of an inclusive service', () => {
  const at = (block: number, index = 0): string => `{"block_number":${block},"log_index":${index}}`
  const trimmed = (data: string, end = 9): string | undefined =>
    scanCoverage(Buffer.from(`{"data":[${data}],"next_block":11}`), end, shapeError)?.trimmed?.toString()
  const left = (data: string): string => `{"data":[${data}],"next_block":11}`
  it.each([
    ['in an entry of their own', `{"logs":[${at(9)}]},{"logs":[${at(10)}]}`, `{"logs":[${at(9)}]}`],
    ['alone', `{"logs":[${at(10)},${at(10, 1)}]}`, ''],
    ['behind others', `{"logs":[${at(9)} , ${at(10)}]}`, `{"logs":[${at(9)} ]}`],
    ['over two entries', `{"logs":[${at(9)},${at(10)}],"blocks":[]},{"logs":[${at(10, 1)}]}`, `{"logs":[${at(9)}]}`],
  ])('%s are cut off', (_, data, rest) => {
    expect(trimmed(data)).toBe(left(rest))
  })
  it.each([
    ['between others', `{"logs":[${at(10)},${at(9)}]}`],
    ['with a list of another kind', `{"logs":[${at(9)}],"more":[${at(10)}]}`],
    ['with an object in them', `{"logs":[{"of":{"block_number":10},"log_index":0}]}`],
    ['in an entry with another first key', `{"blocks":[],"logs":[${at(10)}]}`],
  ])('%s are left to the parser', (_, data) => {
    expect(scanCoverage(Buffer.from(left(data)), 9, shapeError)).toBeUndefined()
  })
})

const number = fc.oneof(
  { weight: 8, arbitrary: fc.integer({ min: 0, max: 12 }) },
  { weight: 1, arbitrary: fc.constantFrom('7', '0x8', null, -1, 3.5, 2 ** 53, true, 'x') },
)
const text = fc.constantFrom('0x', '0x01', '', '"', '\\', 'é', '"block_number":3', '"next_block":5', ']}')
const log = fc.record(
  {
    block_number: number,
    log_index: number,
    data: fc.oneof(text, fc.constant(null)),
    topic0: fc.oneof(text, fc.constant(null)),
    removed: fc.boolean(),
    extra: fc.oneof(text, fc.constant({ block_number: 3 }), fc.constant([1])),
  },
  { requiredKeys: ['block_number', 'log_index'] },
)
const answer = fc.record(
  {
    data: fc.array(
      fc.record({ logs: fc.array(log, { maxLength: 4 }), blocks: fc.constant([]) }, { requiredKeys: [] }),
      { maxLength: 3 },
    ),
    next_block: number,
    archive_height: number,
    rollback_guard: fc.constantFrom(null, { block_number: 5, hash: '0xaa' }, 'x', [3]),
    meta: fc.constantFrom('x', { data: [] }, [1, 2]),
  },
  { requiredKeys: ['data'] },
)

describe('the scan and the parser', () => {
  /** The page, or that it is rejected. */
  const outcome = (bytes: Buffer) => {
    try {
      const { from, next, archiveHeight, last, count, body, logs } = readPage(bytes, { from: 2, end: 9 }, queryError)
      const all = logs()
      // The bytes are still valid JSON.
      JSON.parse(Buffer.from(body).toString())
      return { from, next, archiveHeight, last, count, logs: all }
    } catch {
      return 'rejected'
    }
  }
  it('agree on any response: an escape disables the scan and changes nothing else', () => {
    fc.assert(
      fc.property(answer, fc.constantFrom(undefined, 1), (value, indent) => {
        const plain = JSON.stringify(value, undefined, indent)
        const escaped = plain.replaceAll('block_number', String.raw`block\u005fnumber`)
        const forced = `${escaped.slice(0, -1)},"forced":"\\u0041"}`
        expect(outcome(Buffer.from(plain))).toEqual(outcome(Buffer.from(forced)))
      }),
      { numRuns: 3000, seed: 9 },
    )
  })
})
