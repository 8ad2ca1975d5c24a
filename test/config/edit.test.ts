import { describe, expect, it } from 'vitest'
import { addSettings } from '../../src/config/edit.ts'

const PREFIX = { path: 'prefix', value: 'chain' }
const KEY = { path: 'node.publicKey', value: '02ab' }
const REFERENCE = { path: 'references', value: [{ name: 'b', url: 'https://b.example' }] }
const RECEIVER = { path: 'alertmanagers.urls', value: ['http://pager:9093'] }

const ENTRY = '{ name: b, url: https://b.example }'

describe('a setting', () => {
  // `<-` and `->` enclose what is removed, `<+` and `+>` what is added.
  it.each([
    ['to a file of comments: at its end', PREFIX, '# mine\n<+\nprefix: chain\n+>'],
    ['to an empty file', PREFIX, '<+prefix: chain\n+>'],
    ['a section at the end', KEY, 'listen: :1<+\n\nnode:\n  publicKey: 02ab\n+>'],
    ['a list at the end', REFERENCE, `listen: :1\n# end\n<+\nreferences:\n  - ${ENTRY}\n+>`],
    ['a list of texts at the end', RECEIVER, 'listen: :1\n<+\nalertmanagers:\n  urls: [http://pager:9093]\n+>'],
    ['in place of another', PREFIX, '"prefix":   <-auto-><+chain+>   # why\n'],
    ['in place of none', PREFIX, 'prefix:<+ chain+> # why\nlisten: :1\n'],
    ['in a section, indented', KEY, 'node:   # mine\n<+    publicKey: 02ab\n+>    # where\n    directory: /srv\n'],
    ['in an empty section', KEY, 'node:<+ { publicKey: 02ab }+>\n#  publicKey: 02\nlisten: :1\n'],
    ['in a section on one line', KEY, 'node: {directory: /srv<+, publicKey: 02ab+>}\n'],
    ['in an empty section on one line', KEY, 'node: {<+ publicKey: 02ab +>}\n'],
    ['in JSON', REFERENCE, `{"listen":":1"<+, references: [${ENTRY}]+>}`],
    ['to a list', REFERENCE, `references:\n- url: 'http://a'   # paid\n<+- ${ENTRY}\n+>\n# next\nlisten: :1\n`],
    ['to a list at the end of a file', REFERENCE, `references:\n    - {url: https://a.example}<+\n    - ${ENTRY}+>`],
    ['to an empty list', REFERENCE, `references: [<+${ENTRY}+>]  # none\n`],
    ['to a list on one line', RECEIVER, 'alertmanagers: { urls: [http://a<+, http://pager:9093+>] }\n'],
    ['to a file with CRLF', REFERENCE, `references:\r\n  - url: http://a\r\n<+  - ${ENTRY}\n+>`],
  ])('%s', (...[, addition, edit]) => {
    const before = edit.replace(/<\+[^]*\+>/, '').replaceAll(/<-|->/g, '')
    const after = edit.replace(/<-.*->/, '').replaceAll(/<\+|\+>/g, '')
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
