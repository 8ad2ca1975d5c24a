import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEndpoint } from '../../query/client/transport.ts'
import { scanPage } from '../../query/client/log-scan.ts'
import { readPage } from '../../query/client/page.ts'
import { createErrorFactory } from '../../query/client/errors.ts'

const queryError = createErrorFactory('read', createEndpoint({ url: 'http://host', apiKey: null }))
const shapeError = (happened: string): Error => new Error(happened)
const scanned = (text: string) => scanPage(Buffer.from(text), shapeError)
/** The blocks of the logs that the scan finds. */
const blocksIn = (text: string): readonly number[] | undefined => {
  const logs = scanned(text)?.logs
  return logs && [...logs.blocks]
}

const LOG = '{"block_number":7,"log_index":0,"data":"0x01"}'
const page = (logs: string, rest = ',"next_block":10'): string => `{"data":[{"logs":[${logs}]}]${rest}}`

describe('the logs of a page without parsing it', () => {
  it('are found in a plain page, wherever the envelope is', () => {
    const both = `${LOG},${LOG.replace('7', '9')}`
    expect(scanned(page(both))).toMatchObject({ envelope: { next: 10 }, logs: { count: 2, isOrdered: true } })
    expect(scanned(`{"next_block":10,"data":[{"logs":[${both}]}]}`)).toMatchObject({ envelope: { next: 10 } })
    for (const text of [
      page(both),
      page(`${LOG}]},{},{"logs":[],"blocks":[]},{"block":9,"logs":[${LOG.replace('7', '9')}`),
    ]) {
      expect(blocksIn(text)).toEqual([7, 9])
    }
    expect(blocksIn('{ "data" : [ ] }')).toEqual([])
  })
  it('are found with white space, if all logs have the same', () => {
    const logs = [7, 9].map((block) => ({ block_number: block, log_index: 0, topic0: null, extra: 'x' }))
    for (const indent of [1, 4, '\t'])
      expect(blocksIn(JSON.stringify({ data: [{ logs }] }, undefined, indent))).toEqual([7, 9])
    expect(blocksIn(page(`${LOG} ,\n ${LOG}`))).toEqual([7, 7])
  })
  it('have the positions of their hex digits', () => {
    const [address, topic, data] = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(64)}`, '0xcc']
    const log = { block_number: 1, log_index: 2, address, topic0: topic, topic1: null, data }
    const text = JSON.stringify({ data: [{ logs: [log] }] })
    const at = [text.indexOf('aa'), text.indexOf('bb'), 0, 0, 0, text.indexOf('cc'), text.indexOf('cc') + 2]
    expect([...(scanned(text)?.logs.positions.subarray(0, 7) ?? [])]).toEqual(at)
  })
  it('are found with data of any length', () => {
    for (let bytes = 0; bytes < 100; bytes += 1) {
      const logs = `${LOG.replace('0x01', `0x${'01'.repeat(bytes)}`)},${LOG.replace('7', '8')},${LOG.replace('7', '9').replace('"0x01"', 'null')}`
      const found = scanned(page(logs))?.logs
      expect([...(found?.blocks ?? [])]).toEqual([7, 8, 9])
      expect((found?.positions[6] ?? 0) - (found?.positions[5] ?? 0)).toBe(2 * bytes)
      expect(found?.positions[19]).toBe(0)
    }
  })
  it.each([
    ['the same position twice', `${LOG},${LOG}`],
    ['a lower index', `${LOG.replace('0', '4')},${LOG}`],
    ['a lower block', `${LOG},${LOG.replace('7', '6')}`],
    ['a removed log', '{"block_number":7,"log_index":0,"removed":true}'],
  ])('are not ordered with %s', (_, logs) => {
    expect(scanned(page(logs))?.logs.isOrdered).toBe(false)
  })
  it.each([
    ['an escape', page(LOG.replace('block_number', String.raw`block\u005fnumber`))],
    ['an escape outside of the logs', page(LOG, String.raw`,"a":"\n"`)],
    ['a number as text', page(LOG.replace('7', '"7"'))],
    ['a number with a fraction', page(LOG.replace('7', '7.0'))],
    ['a number of sixteen digits', page(LOG.replace('7', '1000000000000007'))],
    ['a number that begins with 0', page(LOG.replace('7', '07'))],
    ['a log without a block number', page(`${LOG},{"log_index":1}`)],
    ['a log with another order of keys', page(`${LOG},{"log_index":1,"block_number":7,"data":"0x01"}`)],
    ['a key twice in a log', page('{"block_number":7,"log_index":0,"log_index":1}')],
    ['an object in a log', page('{"block_number":7,"log_index":0,"of":{"a":1}}')],
    ['a list of logs elsewhere', `{"meta":{"logs":[${LOG}]},"data":[]}`],
    ['no data', '{"next_block":10}'],
    ['a list instead of an object', `[${page(LOG)}]`],
    ['a comma too many', page(`${LOG},`)],
    ['no comma', page(`${LOG}${LOG}`)],
    ['invalid JSON', '{"data":[]'],
    ['an unfinished log before many bytes', `{"data":[{"logs":[{${' '.repeat(1_000_000)}`],
    ['text after the end', `${page(LOG)}1`],
  ])('are not found with %s', (_, text) => {
    expect(scanned(text)).toBeUndefined()
  })
  it.each([
    ['lists of logs in an entry', page(`${LOG}],"logs":[${LOG}`)],
    ['lists named data', `{"data":[{"logs":[${LOG}]}],"data":[]}`],
  ])('two %s: the page is rejected', (_, text) => {
    expect(() => scanned(text)).toThrow(/a scan and a parse count different logs/)
  })
  it('are not found in a page that is cut off', () => {
    const text = page(LOG, '')
    for (let length = 0; length < text.length; length += 1) expect(scanned(text.slice(0, length))).toBeUndefined()
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
      const { from, next, archiveHeight, last, count, logs } = readPage(bytes, { from: 2, end: 9 }, queryError)
      const all = logs()
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
