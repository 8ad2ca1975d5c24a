import { describe, expect } from 'vitest'
import { ask, askRaw, codeOf, errorOf, it, RIGHT } from './fixtures.ts'

const ADDRESS = `0x${'11'.repeat(20)}`
const TOPIC = `0x${'22'.repeat(32)}`

const withLogs = (logs: unknown) => ({ ...RIGHT, logs })
const withTopics = (topics: unknown) => withLogs([{ topics }])
const text = (more: string): string => `{"from_block":10,"logs":[{}],"field_selection":{"log":["data"]}${more}}`

/** Name, body, and the expected path and code. */
const ROWS: readonly (readonly [name: string, body: unknown, path: string | null, code?: string])[] = [
  ['not JSON', '{', null, 'bad_json'],
  ['not an object', '[]', null, 'bad_json'],
  ['a key twice', text(',"from_block":10'), 'from_block', 'bad_json'],
  ['a key twice, once written otherwise', text(String.raw`,"from\u005fblock":9`), 'from_block', 'bad_json'],
  ['a key twice further in', '{"logs":[{},{"address":[],"topics":[],"address":[]}]}', 'logs[1].address', 'bad_json'],
  ['nested without end', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, null, 'bad_json'],
  [
    'a key twice behind an escaped quote',
    String.raw`{"logs":["\"",{"a\"":1,"b":2,"a\u0022":3}]}`,
    'logs[1].a"',
    'bad_json',
  ],
  ['an unknown key', { ...RIGHT, form_block: 1 }, 'form_block', 'unknown_field'],
  ['an unknown key in a filter', withLogs([{}, { adress: [] }]), 'logs[1].adress', 'unknown_field'],
  ['__proto__', text(',"__proto__":{}'), '__proto__', 'unknown_field'],
  ['from_block missing', { ...RIGHT, from_block: undefined }, 'from_block'],
  ['from_block negative', { ...RIGHT, from_block: -1 }, 'from_block'],
  ['from_block 2^53', { ...RIGHT, from_block: 2 ** 53 }, 'from_block'],
  ['to_block a text', { ...RIGHT, to_block: 'latest' }, 'to_block'],
  ['to_block before from_block', { ...RIGHT, to_block: 9 }, 'to_block'],
  ['logs missing', { ...RIGHT, logs: undefined }, 'logs'],
  ['a filter that is none', withLogs([{}, null]), 'logs[1]'],
  ['an address too short', withLogs([{ address: [ADDRESS, '0x11'] }]), 'logs[0].address[1]'],
  ['a line feed behind an address', withLogs([{ address: [`${ADDRESS}\n`] }]), 'logs[0].address[0]'],
  ['a topic that is an address', withTopics([[], [TOPIC, TOPIC, TOPIC, ADDRESS]]), 'logs[0].topics[1][3]'],
  ['a position that is null', withTopics([null, [TOPIC]]), 'logs[0].topics[0]'],
  ['five positions', withTopics([[], [], [], [], []]), 'logs[0].topics[4]'],
  [
    'too many values',
    withTopics([Array.from({ length: 10_001 }, () => TOPIC)]),
    'logs[0].topics[0][10000]',
    'too_many',
  ],
  [
    'too many values in all',
    withLogs([{ address: Array.from({ length: 9999 }, () => ADDRESS) }, { topics: [[], [TOPIC, TOPIC]] }]),
    'logs[1].topics[1][1]',
    'too_many',
  ],
  ['too many filters', withLogs(Array.from({ length: 101 }, () => ({}))), 'logs[100]', 'too_many'],
  ['no selection', { ...RIGHT, field_selection: undefined }, 'field_selection'],
  ['no selection of logs', { ...RIGHT, field_selection: {} }, 'field_selection.log'],
  ['an empty selection', { ...RIGHT, field_selection: { log: [] } }, 'field_selection.log'],
  ['an unknown field', { ...RIGHT, field_selection: { log: ['data', 'topic4'] } }, 'field_selection.log[1]'],
  [
    'a selection of blocks',
    { ...RIGHT, field_selection: { log: ['data'], block: ['hash'] } },
    'field_selection.block',
    'unknown_field',
  ],
  ['a field that every object has', { ...RIGHT, field_selection: { log: ['constructor'] } }, 'field_selection.log[0]'],
  ['blocks that are not held any more', { ...RIGHT, from_block: 4 }, 'from_block', 'pruned'],
]

describe('bad input', () => {
  it.for(ROWS)('%s', async ([, body, path, code = 'bad_value'], { api }) => {
    const isPruned = code === 'pruned'
    const got = await ask(api, body)
    const { message, ...error } = errorOf(got)
    expect([got.status, error]).toEqual([isPruned ? 410 : 400, { code, path, ...(isPruned && { first_block: 5 }) }])
    expect(message).not.toBe('')
    expect(got.headers['content-type']).toBe('application/json')
    expect(api.complaints).toEqual([])
  })

  it('invalid UTF-8', async ({ api }) => {
    const body = Buffer.concat([Buffer.from('{"from_block'), Buffer.from([0xff]), Buffer.from('":1}')])
    const got = await askRaw(api, { body })
    expect([got.status, codeOf(got)]).toEqual([400, 'bad_json'])
  })

  it('the error names the received value, truncated', async ({ api }) => {
    const got = await ask(api, { ...RIGHT, from_block: 'x'.repeat(5000) })
    expect(errorOf(got).message).toBe(`expected a whole number from 0 to 2^53-1, got "${'x'.repeat(59)}…`)
    expect((await ask(api, { ...RIGHT, ['k'.repeat(5000)]: 1 })).text.length).toBeLessThan(400)
  })
})

it.for<readonly [string, string]>([
  ['empty objects', `{"from_block":0,"logs":[${'{},'.repeat(340_000)}{}]}`],
  ['keys', `{${Array.from({ length: 90_000 }, (_, index) => `"k${index}":1`).join()}}`],
])('a body is not parsed beyond 20,000 values: %s', async ([, body], { api }) => {
  const got = await askRaw(api, { body })
  expect([got.status, codeOf(got)]).toEqual([400, 'too_many'])
  expect(errorOf(got).message).toBe('more than 20000 JSON values in one request')
})

it('ten thousand values are accepted', async ({ api }) => {
  const got = await ask(api, withTopics([Array.from({ length: 10_000 }, () => TOPIC)]))
  expect([got.status, got.text]).toEqual([200, '{"data":[],"archive_height":30}'])
})
