import { describe, expect, it } from 'vitest'
import { addSettings } from '../../src/config/edit.ts'

const PREFIX = { path: 'prefix', value: 'chain' }
const KEY = { path: 'node.publicKey', value: '02ab' }
const REFERENCE = { path: 'references', value: [{ name: 'b', url: 'https://b.example' }] }
const RECEIVER = { path: 'alertmanagers.urls', value: ['http://pager:9093'] }

const ENTRY = '{ name: b, url: https://b.example }'

describe('a setting', () => {
  it.each([
    ['to a file of comments: at its end', PREFIX, '# mine\n', '# mine\n\nprefix: chain\n'],
    ['to an empty file', PREFIX, '', 'prefix: chain\n'],
    ['a section at the end', KEY, 'listen: :1', 'listen: :1\n\nnode:\n  publicKey: 02ab\n'],
    ['a list at the end', REFERENCE, 'listen: :1\n# end\n', `listen: :1\n\nreferences:\n  - ${ENTRY}\n\n# end\n`],
    ['in place of another', PREFIX, '"prefix":   "auto"   # why\n', '"prefix": "chain" # why\n'],
    ['in place of none', PREFIX, 'prefix: # why\nlisten: :1\n', 'prefix: chain # why\nlisten: :1\n'],
    [
      'in a section',
      KEY,
      'node:   # mine\n    directory: /srv\n',
      'node:\n  # mine\n  directory: /srv\n  publicKey: 02ab\n',
    ],
    [
      'in an empty section',
      KEY,
      'node:\n#  publicKey: 02\nlisten: :1\n',
      'node:\n  #  publicKey: 02\n  publicKey: 02ab\n\nlisten: :1\n',
    ],
    ['in a section on one line', KEY, 'node: {directory: /srv}\n', 'node: { directory: /srv, publicKey: 02ab }\n'],
    ['in JSON', REFERENCE, '{"listen":":1"}', `{ "listen": ":1", references: [ ${ENTRY} ] }\n`],
    [
      'to a list',
      REFERENCE,
      "references:\n- url: 'http://a'   # paid\n\n# next\nlisten: :1\n",
      `references:\n  - url: 'http://a' # paid\n  - ${ENTRY}\n\n# next\nlisten: :1\n`,
    ],
    ['to an empty list', REFERENCE, 'references: []  # none\n', `references: [ ${ENTRY} ] # none\n`],
    [
      'to a list on one line',
      RECEIVER,
      'alertmanagers: { urls: [http://a] }\n',
      'alertmanagers: { urls: [ http://a, http://pager:9093 ] }\n',
    ],
    [
      'to a file with CRLF',
      REFERENCE,
      '# a\r\nreferences:\r\n  - url: http://a\r\n',
      `# a\r\nreferences:\r\n  - url: http://a\r\n  - ${ENTRY}\r\n`,
    ],
  ])('%s', (...[, addition, before, after]) => {
    expect(addSettings('agent.yaml', before, [addition])).toBe(after)
  })

  it('keeps comments and values of an odd layout', () => {
    const before = [
      '%YAML 1.2',
      '---   # head',
      '# first',
      '"rpc" :   # of the node',
      '      interval:   2s   # fast',
      '   #    odd',
      "      'url': 'http://localhost:8080'",
      '? listen',
      ': ":9843"',
      'names: { file: "/etc/its" , # why',
      '  }',
      'health:',
      '    limits: {',
      '        # own',
      '        ChainBehind: {warning: 8s}   # loud',
      '    }',
      'log: {level:   debug}',
      '',
      '',
      '# last',
      '',
    ].join('\n')
    const after = addSettings('agent.yaml', before, [PREFIX, KEY, REFERENCE, RECEIVER])
    expect(after).toBe(
      [
        '%YAML 1.2',
        '---',
        '# head',
        '# first',
        '"rpc":',
        '  # of the node',
        '  interval: 2s # fast',
        '  #    odd',
        "  'url': 'http://localhost:8080'",
        'listen: ":9843"',
        'names: { file: "/etc/its" } # why',
        'health:',
        '  limits:',
        '    {',
        '      # own',
        '      ChainBehind: { warning: 8s } # loud',
        '    }',
        'log: { level: debug }',
        '',
        'prefix: chain',
        '',
        'node:',
        '  publicKey: 02ab',
        '',
        'references:',
        `  - ${ENTRY}`,
        '',
        'alertmanagers:',
        '  urls:',
        '    - http://pager:9093',
        '',
        '# last',
        '',
      ].join('\n'),
    )
  })

  it('several, one after the other', () => {
    expect(addSettings('agent.yaml', '# mine\n', [PREFIX, KEY, REFERENCE, RECEIVER])).toBe(
      `# mine\n\nprefix: chain\n\nnode:\n  publicKey: 02ab\n\nreferences:\n  - ${ENTRY}\n\nalertmanagers:\n  urls:\n    - http://pager:9093\n`,
    )
  })

  it.each([
    ['an alias', 'names: &all [1]\nreferences: *all\n'],
    ['a text', 'references: none\n'],
  ])('to %s is an error that names it', (_, text) => {
    expect(() => addSettings('agent.yaml', text, [REFERENCE])).toThrow(
      'agent.yaml: it is written in a form that cannot be extended: add references by hand',
    )
  })
})
