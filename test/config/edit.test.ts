import { describe, expect, it } from 'vitest'
import { addSettings } from '../../src/config/edit.ts'

const PREFIX = { path: 'prefix', value: 'chain' }
const KEY = { path: 'node.publicKey', value: '02ab' }
const REFERENCE = { path: 'references', value: [{ name: 'b', url: 'https://b.example' }] }
const RECEIVER = { path: 'alertmanagers.urls', value: ['http://pager:9093'] }

const ENTRY = '{ name: b, url: https://b.example }'

describe('a setting', () => {
  it.each([
    ['to a file of comments: at its end', '# mine\n', PREFIX, '# mine\n\nprefix: chain\n'],
    ['to an empty file', '', PREFIX, 'prefix: chain\n'],
    ['a section at the end', 'listen: :1', KEY, 'listen: :1\n\nnode:\n  publicKey: 02ab\n'],
    ['a list at the end', 'listen: :1\n# end\n', REFERENCE, `listen: :1\n# end\n\nreferences:\n  - ${ENTRY}\n`],
    [
      'a list of texts at the end',
      'listen: :1\n',
      RECEIVER,
      'listen: :1\n\nalertmanagers:\n  urls: [http://pager:9093]\n',
    ],
    ['in place of another', '"prefix":   auto   # why\n', PREFIX, '"prefix":   chain   # why\n'],
    ['in place of none', 'prefix: # why\nlisten: :1\n', PREFIX, 'prefix: chain # why\nlisten: :1\n'],
    [
      'in a section, with its indentation',
      'node:   # mine\n    # where\n    directory: /srv\n',
      KEY,
      'node:   # mine\n    publicKey: 02ab\n    # where\n    directory: /srv\n',
    ],
    [
      'in an empty section',
      'node:\n#  publicKey: 02\nlisten: :1\n',
      KEY,
      'node: { publicKey: 02ab }\n#  publicKey: 02\nlisten: :1\n',
    ],
    ['in a section on one line', 'node: {directory: /srv}\n', KEY, 'node: {directory: /srv, publicKey: 02ab}\n'],
    ['in an empty section on one line', 'node: {}\n', KEY, 'node: { publicKey: 02ab }\n'],
    ['in JSON', '{"listen":":1"}', REFERENCE, `{"listen":":1", references: [${ENTRY}]}`],
    [
      'to a list, below its last entry',
      "references:\n- name: a\n  url: 'https://a.example'   # paid\n\n# next\nlisten: :1\n",
      REFERENCE,
      `references:\n- name: a\n  url: 'https://a.example'   # paid\n- ${ENTRY}\n\n# next\nlisten: :1\n`,
    ],
    [
      'to a list, at the end of a file without a line break',
      'references:\n    - {name: a, url: https://a.example}',
      REFERENCE,
      `references:\n    - {name: a, url: https://a.example}\n    - ${ENTRY}`,
    ],
    ['to an empty list', 'references: []  # none\n', REFERENCE, `references: [${ENTRY}]  # none\n`],
    [
      'to a list on one line',
      'alertmanagers: { urls: [http://a] }\n',
      RECEIVER,
      'alertmanagers: { urls: [http://a, http://pager:9093] }\n',
    ],
    [
      'to a file with CRLF',
      'references:\r\n  - url: http://a\r\n',
      REFERENCE,
      `references:\r\n  - url: http://a\r\n  - ${ENTRY}\n`,
    ],
  ])('%s', (...[, before, addition, after]) => {
    expect(addSettings('agent.yaml', before, [addition])).toBe(after)
  })

  it('with characters of YAML is quoted', () => {
    const value = ['http://a/?b=[c],d', 'http://a/#e']
    expect(addSettings('agent.yaml', 'alertmanagers: {urls: []}\n', [{ path: 'alertmanagers.urls', value }])).toBe(
      'alertmanagers: {urls: ["http://a/?b=[c],d", http://a/#e]}\n',
    )
  })

  it('several, one after the other', () => {
    expect(addSettings('agent.yaml', '# mine\n', [PREFIX, KEY, REFERENCE, RECEIVER])).toBe(
      `# mine\n\nprefix: chain\n\nnode:\n  publicKey: 02ab\n\nreferences:\n  - ${ENTRY}\n\nalertmanagers:\n  urls: [http://pager:9093]\n`,
    )
  })

  it.each([
    ['an alias', 'names: &all [1]\nreferences: *all\n'],
    ['a document that ends before the file', 'listen: :1\n...\n'],
    ['a file whose lines are indented', '  listen: :1\n'],
  ])('to %s is an error that names it', (_, text) => {
    expect(() => addSettings('agent.yaml', text, [REFERENCE])).toThrow(
      'agent.yaml: references is written in a form that cannot be extended: add 1 more by hand',
    )
  })
})
