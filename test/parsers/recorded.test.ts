import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { ParseError } from '../../src/core/errors.ts'
import { toJson } from '../../src/core/json.ts'
import { checkKeyFile } from '../../src/parsers/keystore.ts'
import { parseStorageReport } from '../../src/parsers/mpt.ts'
import { parseStatusReport } from '../../src/parsers/status.ts'
import { parseNodeVersion } from '../../src/parsers/version.ts'

interface Row {
  readonly parse: (text: string) => unknown
  /** Texts that are not of the format, by what they are. */
  readonly refused?: Readonly<Record<string, string>>
  /** The complete error for the first of them. */
  readonly error?: string
}

/** By the folder of the recorded outputs, and of what they mean. */
const ROWS: Readonly<Record<string, Row>> = {
  mpt: {
    parse: parseStorageReport,
    refused: {
      'an error': 'FATAL: no such device\n',
      'a size in a unit that is not one': '1.00 Xb  1.00 Gb 10.00%  "/dev/a"\n',
      'a size with three decimals': '1.000 Gb  1.00 Gb 10.00%  "/dev/a"\n',
      'a path without its end': '1.00 Gb  1.00 Gb 10.00%  "/dev/a\\"\n',
      'a number of 21 digits': 'MPT database has 100000000000000000000 history, earliest is 1\n',
      'what the retention says': 'MPT database has been configured to retain no more than 5 versions.\n',
      'lists alone': 'Free: 0 chunks\n',
      nothing: '\n',
    },
    error:
      'Could not parse the report on the storage: expected a row of a device, or the history\n  input: FATAL: no such device',
  },
  status: {
    parse: parseStatusReport,
    refused: {
      'an error': 'chain-status: command not found\n',
      'a word of another program': 'version: 3\n',
      JSON: '{"hostname": "rig-11", "uptime": "1s"}\n',
      nothing: '',
    },
    error:
      'Could not parse the status report: expected sections with lines of "key: value"\n  input: chain-status: command not found',
  },
  'node-version': {
    parse: parseNodeVersion,
    refused: {
      'a crash': 'Segmentation fault\n',
      'a name alone': 'a-node',
      'a tag that is a number': 'a-node {"tag":5}',
      'an empty object': 'a-node {}',
      'no tag': 'a-node {"modified":true}',
      'a tag that is null': 'a-node {"tag":null}',
      'an object without its end': 'a-node {"tag":"v1.2.3"',
      'a list': '[]',
      'an error': 'error: unexpected argument found\n',
      'an error of the option': 'The following argument was not expected: --version\nRun with --help for more.\n',
      nothing: '',
    },
    error:
      'Could not parse the version of the node: expected NAME {"tag":…} or NAME x.y.z\n  input: Segmentation fault',
  },
  keystore: { parse: checkKeyFile },
}

describe.each(Object.entries(ROWS))('%s', (folder, { parse, refused = {}, error }) => {
  const place = new URL(`../fixtures/${folder}/`, import.meta.url)
  const read = (name: string): string => readFileSync(new URL(name, place), 'utf8')
  const expected = z.record(z.string(), z.unknown()).parse(JSON.parse(read('expected.json')))

  test.each(Object.keys(expected))('%s', (name) => {
    expect(toJson(parse(read(name)))).toEqual(expected[name])
  })

  test('every recorded output is in the table', () => {
    const files = readdirSync(place, { withFileTypes: true }).filter((entry) => entry.isFile())
    const names = files.map(({ name }) => name).filter((name) => name !== 'expected.json')
    expect(names.toSorted()).toEqual(Object.keys(expected).toSorted())
  })

  test.each(Object.entries(refused))('%s is not of the format', (_, text) => {
    expect(() => parse(text)).toThrow(ParseError)
  })

  test.each(Object.values(refused).slice(0, 1))('the error names what was expected and shows what came: %j', (text) => {
    expect(() => parse(text)).toThrow(error)
  })
})
