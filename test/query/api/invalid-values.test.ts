import { describe, expect } from 'vitest'
import { ask, askRaw, codeOf, errorOf, it, RIGHT } from './fixtures.ts'

const ADDRESS = `0x${'11'.repeat(20)}`
const TOPIC = `0x${'22'.repeat(32)}`

const withLogs = (logs: unknown) => ({ ...RIGHT, logs })
const withTopics = (topics: unknown) => withLogs([{ topics }])
const text = (more: string): string => `{"from_block":10,"logs":[{}],"field_selection":{"log":["data"]}${more}}`

/** Name, body, and the expected path and code. */
const ROWS: readonly (readonly [name: string, body: unknown, path: string | null, code?: string])[] = [
  ['1 not JSON', '{', null, 'bad_json'],
  ['2 nothing at all', '', null, 'bad_json'],
  ['3 not an object', '[]', null, 'bad_json'],
  ['4 null', 'null', null, 'bad_json'],
  ['5 a key twice', text(',"from_block":10'), 'from_block', 'bad_json'],
  ['6 a key twice, once written otherwise', text(String.raw`,"from\u005fblock":9`), 'from_block', 'bad_json'],
  ['7 a key twice further in', '{"logs":[{},{"address":[],"topics":[],"address":[]}]}', 'logs[1].address', 'bad_json'],
  ['8 nested without end', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, null, 'bad_json'],
  ['9 nested too deep', `{"logs":${'['.repeat(50)}${']'.repeat(50)}}`, null, 'bad_json'],
  [
    '9b a key twice behind an escaped quote',
    String.raw`{"logs":["\"",{"a\"":1,"b":2,"a\u0022":3}]}`,
    'logs[1].a"',
    'bad_json',
  ],
  ['10 an unknown key', { ...RIGHT, form_block: 1 }, 'form_block', 'unknown_field'],
  ['11 a key of the hosted dialect', { ...RIGHT, max_num_logs: 1 }, 'max_num_logs', 'unknown_field'],
  ['12 an unknown key in a filter', withLogs([{}, { adress: [] }]), 'logs[1].adress', 'unknown_field'],
  ['13 __proto__', text(',"__proto__":{}'), '__proto__', 'unknown_field'],
  ['14 from_block missing', { ...RIGHT, from_block: undefined }, 'from_block'],
  ['15 from_block negative', { ...RIGHT, from_block: -1 }, 'from_block'],
  ['16 from_block a fraction', { ...RIGHT, from_block: 1.5 }, 'from_block'],
  ['17 from_block a text', { ...RIGHT, from_block: '10' }, 'from_block'],
  ['18 from_block 2^53', { ...RIGHT, from_block: 2 ** 53 }, 'from_block'],
  ['19 from_block null', { ...RIGHT, from_block: null }, 'from_block'],
  ['20 to_block a text', { ...RIGHT, to_block: 'latest' }, 'to_block'],
  ['21 to_block 2^53', { ...RIGHT, to_block: 2 ** 53 }, 'to_block'],
  ['22 to_block before from_block', { ...RIGHT, to_block: 9 }, 'to_block'],
  ['23 logs missing', { ...RIGHT, logs: undefined }, 'logs'],
  ['24 logs a text', withLogs('all'), 'logs'],
  ['25 logs an object', withLogs({}), 'logs'],
  ['26 a filter that is none', withLogs([{}, null]), 'logs[1]'],
  ['27 address no list', withLogs([{ address: ADDRESS }]), 'logs[0].address'],
  ['28 address null', withLogs([{ address: null }]), 'logs[0].address'],
  ['29 an address too short', withLogs([{ address: [ADDRESS, '0x11'] }]), 'logs[0].address[1]'],
  ['30 an address without 0x', withLogs([{ address: ['11'.repeat(21)] }]), 'logs[0].address[0]'],
  ['31 an address that is no hex', withLogs([{ address: [`0x${'1g'.repeat(20)}`] }]), 'logs[0].address[0]'],
  ['32 a line feed behind an address', withLogs([{ address: [`${ADDRESS}\n`] }]), 'logs[0].address[0]'],
  ['33 a topic that is an address', withTopics([[], [TOPIC, TOPIC, TOPIC, ADDRESS]]), 'logs[0].topics[1][3]'],
  ['34 a topic that is a number', withTopics([[1]]), 'logs[0].topics[0][0]'],
  ['35 a position that is no list', withTopics([TOPIC]), 'logs[0].topics[0]'],
  ['36 a position that is null', withTopics([null, [TOPIC]]), 'logs[0].topics[0]'],
  ['37 five positions', withTopics([[], [], [], [], []]), 'logs[0].topics[4]'],
  [
    '38 too many values',
    withTopics([Array.from({ length: 10_001 }, () => TOPIC)]),
    'logs[0].topics[0][10000]',
    'too_many',
  ],
  [
    '39 too many values in all',
    withLogs([{ address: Array.from({ length: 9999 }, () => ADDRESS) }, { topics: [[], [TOPIC, TOPIC]] }]),
    'logs[1].topics[1][1]',
    'too_many',
  ],
  ['40 too many filters', withLogs(Array.from({ length: 101 }, () => ({}))), 'logs[100]', 'too_many'],
  ['41 no selection', { ...RIGHT, field_selection: undefined }, 'field_selection'],
  ['42 no selection of logs', { ...RIGHT, field_selection: {} }, 'field_selection.log'],
  ['43 an empty selection', { ...RIGHT, field_selection: { log: [] } }, 'field_selection.log'],
  ['44 an unknown field', { ...RIGHT, field_selection: { log: ['data', 'topic4'] } }, 'field_selection.log[1]'],
  [
    '45 a selection of blocks',
    { ...RIGHT, field_selection: { log: ['data'], block: ['hash'] } },
    'field_selection.block',
    'unknown_field',
  ],
  [
    '46 a field that every object has',
    { ...RIGHT, field_selection: { log: ['constructor'] } },
    'field_selection.log[0]',
  ],
  ['47 blocks that are not held any more', { ...RIGHT, from_block: 4 }, 'from_block', 'pruned'],
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

  it('48 invalid UTF-8', async ({ api }) => {
    const body = Buffer.concat([Buffer.from('{"from_block'), Buffer.from([0xff]), Buffer.from('":1}')])
    const got = await askRaw(api, { body })
    expect([got.status, codeOf(got)]).toEqual([400, 'bad_json'])
  })

  it('49 the error names the received value, truncated', async ({ api }) => {
    const got = await ask(api, { ...RIGHT, from_block: 'x'.repeat(5000) })
    expect(errorOf(got).message).toBe(`expected a whole number from 0 to 2^53-1, got "${'x'.repeat(59)}…`)
    expect((await ask(api, { ...RIGHT, ['k'.repeat(5000)]: 1 })).text.length).toBeLessThan(400)
  })
})

describe('a body full of invalid entries', () => {
  const many = (entry: unknown): readonly unknown[] => Array.from({ length: 9000 }, () => entry)

  it.for([
    ['logs[0]', withLogs(many(0))],
    ['logs[0].address[0]', withLogs([{ address: many('') }])],
    ['logs[0].topics[0]', withTopics(many(0))],
    ['logs[0].topics[4]', withTopics(many([]))],
    ['logs[100]', withLogs(many({}))],
    ['field_selection.log[0]', { ...RIGHT, field_selection: { log: many('x') } }],
  ])('is rejected at the first: %s', async ([path, body], { api }) => {
    const got = await ask(api, body)
    expect([got.status, errorOf(got).path]).toEqual([400, path])
  })

  it.for<readonly [string, string]>([
    ['empty objects', `{"from_block":0,"logs":[${'{},'.repeat(340_000)}{}]}`],
    ['keys', `{${Array.from({ length: 90_000 }, (_, index) => `"k${index}":1`).join()}}`],
  ])('is not parsed beyond 20,000 values: %s', async ([, body], { api }) => {
    const got = await askRaw(api, { body })
    expect([got.status, codeOf(got)]).toEqual([400, 'too_many'])
    expect(errorOf(got).message).toBe('more than 20000 JSON values in one request')
  })
})

describe('unusual but valid input', () => {
  it.for([
    ['50 one block', { ...RIGHT, to_block: 10 }],
    ['51 to_block null', { ...RIGHT, to_block: null }],
    ['52 no to_block', { ...RIGHT, to_block: undefined }],
    ['53 to_block beyond what is held', { ...RIGHT, to_block: Number.MAX_SAFE_INTEGER }],
    ['54 from_block beyond what is held', { ...RIGHT, from_block: 31, to_block: undefined }],
    ['55 from_block as far as it goes', { ...RIGHT, from_block: Number.MAX_SAFE_INTEGER, to_block: null }],
    ['56 the first block that is held', { ...RIGHT, from_block: 5 }],
    ['57 capital digits', withLogs([{ address: [`0x${'AB'.repeat(20)}`] }])],
    ['58 the same field twice', { ...RIGHT, field_selection: { log: ['data', 'data'] } }],
    ['59 ten thousand values', withTopics([Array.from({ length: 10_000 }, () => TOPIC)])],
  ])('%s', async ([, body], { api }) => {
    const got = await ask(api, body)
    expect([got.status, got.text]).toEqual([200, '{"data":[],"archive_height":30}'])
  })
})
