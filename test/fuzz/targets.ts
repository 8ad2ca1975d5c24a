import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseConfigFile } from '../../src/config/file.ts'
import { parseForks } from '../../src/config/forks.ts'
import { loadConfig } from '../../src/config/load.ts'
import { keys } from '../../src/config/schema.ts'
import { ConfigError, excerpt, ParseError } from '../../src/core/errors.ts'
import { redactDocument, redactLog } from '../../src/core/redaction/redact-log.ts'
import { redact } from '../../src/core/redaction/redact.ts'
import { parseBytes, parseDuration } from '../../src/core/units.ts'
import { parseEvent, parseEventsPage } from '../../src/parsers/event.ts'
import { formats } from '../../src/parsers/formats.ts'
import { createLineJoiner, parseJournalEntry, withoutPrintedPrefix } from '../../src/parsers/journal.ts'
import * as kernel from '../../src/parsers/kernel-files.ts'
import { readKeyMaterial, readPassword } from '../../src/parsers/keystore.ts'
import { parseLogLine } from '../../src/parsers/log-line.ts'
import { readStorageFailure } from '../../src/parsers/mpt.ts'
import {
  parseHeight,
  parseRpcAmount,
  parseRpcBeneficiary,
  parseRpcBlock,
  parseRpcBytes,
  parseRpcQuantity,
  parseRpcText,
} from '../../src/parsers/rpc.ts'
import { parseSystemdTime, parseUnitFiles, unitLines } from '../../src/parsers/systemctl.ts'
import { parseNtpSynchronized, parseTimesyncOffset, parseTracking } from '../../src/parsers/time-sync.ts'
import { parseEpochStarts } from '../../src/parsers/validators.ts'
import { newestKernel, parseInstalledPackage, versionIn } from '../../src/parsers/version.ts'
import { HttpError } from '../../query/service/api/http-error.ts'
import { QUERY_LIMITS } from '../../query/service/api/limits.ts'
import { createQueryParser, type Dialect, parseBody } from '../../query/service/api/parse-query.ts'
import type { Target } from './engine.ts'

const FIXTURES = 'test/fixtures'

const filesOf = (...folders: readonly string[]): readonly string[] =>
  folders.flatMap((folder) =>
    readdirSync(join(FIXTURES, folder), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== 'expected.json')
      .map(({ name }) => readFileSync(join(FIXTURES, folder, name), 'utf8')),
  )

const linesOf = (folder: string): readonly string[] =>
  filesOf(folder)
    .flatMap((text) => text.split('\n'))
    .filter((line) => line !== '' && !line.startsWith('#'))

const isParseError = (error: unknown): boolean => error instanceof ParseError

/** All of them; an expected error of one does not hide a problem of the next. */
const each =
  (...parsers: readonly ((text: string) => unknown)[]) =>
  (text: string): unknown =>
    parsers.map((parse) => {
      try {
        return parse(text)
      } catch (error) {
        if (isParseError(error)) return null
        throw error
      }
    })

const rpc = (...results: readonly unknown[]): readonly string[] =>
  results.map((result) => JSON.stringify({ jsonrpc: '2.0', id: 1, result }))

const UNIT = `Result=success\nNRestarts=2\nExecMainStartTimestamp=Sun 2026-03-01 10:00:00.250000 UTC
ExecMainCode=2\nExecMainStatus=9\nMemoryCurrent=6442450944\nCPUUsageNSec=1500000000\nTasksCurrent=42
Id=chain-bft.service\nLoadState=loaded\nActiveState=active\nMainPID=4711\nLastTriggerUSec=@1788231600\n`

const RPC_SEEDS: readonly string[] = [
  ...rpc('0x1b4', 'Name/0.14.2', null, { number: '0x1b4', timestamp: '0x69a3', hash: '0x00' }, [1, {}]),
  '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"a":1}}}',
]

/** Seeds of the formats that `chain-agent parse` reads, where they are not the files of the folder with the name of the format. */
const FORMAT_SEEDS: Readonly<Record<string, () => readonly string[]>> = {
  systemctl: () => [
    UNIT,
    `${UNIT}\n${UNIT.replace('bft', 'rpc')}`,
    'Id=x\nActiveState=inactive\nLoadState=not-found\n',
  ],
  'ledger-tail': () => linesOf('ledger-tail'),
  'consensus-log': () => linesOf('consensus-log').map(innerLine),
  'execution-log': () => linesOf('execution-log'),
  'log-patterns': () => linesOf('log-patterns').map(innerLine),
  'chain-mpt': () => filesOf('mpt'),
  'chain-status': () => filesOf('status'),
  prometheus: () => filesOf('prometheus').filter((text) => text !== ''),
  chrony: () => filesOf('host').filter((text) => text.split(',').length === 14),
  smartctl: () => filesOf('host').filter((text) => text.startsWith('{')),
  sockets: () => filesOf('host').filter((text) => text.includes('local_address')),
}

/** Fixtures of lines are JSON with the line as a field, or the lines themselves. */
const innerLine = (text: string): string => {
  try {
    const value: unknown = JSON.parse(text)
    const line: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, 'line') : undefined
    return typeof line === 'string' ? line : text
  } catch {
    return text
  }
}

/** Integers as hex digits, or as numbers such as 1e6 and 0x80. */
const OTHER_DIGITS = ['ledger-tail', 'consensus-log', 'validators']

const formatTargets = async (): Promise<readonly Target[]> =>
  Promise.all(
    formats.map(async ({ name, load }): Promise<Target> => {
      const seeds = FORMAT_SEEDS[name]?.() ?? filesOf(name)
      const doubles = name === 'prometheus' ? ['value'] : []
      return { name, seeds, run: await load(), isExpected: isParseError, doubles, derives: OTHER_DIGITS.includes(name) }
    }),
  )

const ENTRY = {
  __CURSOR: 's=0f;i=1a;b=2b',
  __REALTIME_TIMESTAMP: '1772359200123456',
  _SYSTEMD_UNIT: 'chain-bft.service',
  _PID: '811',
  _STREAM_ID: 'aa',
  PRIORITY: '6',
}
const KERNEL_TEXTS = [
  'cpu  1 2 3 4 5 6 7 8 9 10\nbtime 1788231600\n',
  'some avg10=0.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=12\n',
  'Udp: InDatagrams NoPorts InErrors\nUdp: 12 3 0\n',
  'nr_free_pages 12\noom_kill 3\n',
  '18446744073709551614\n',
  '48350\n',
  '1\n',
  'performance\n',
]

const EVENT = {
  id: 7,
  at: '2026-03-01T10:00:00.000Z',
  collector: 'rpc',
  subject: null,
  from: 'answering',
  to: 'refused: no connection',
  severity: 'warning',
}

/** What the agent reads and `chain-agent parse` does not. */
const otherTargets = (): readonly Target[] => {
  const parser = (name: string, seeds: readonly string[], run: Target['run']): Target => ({
    name,
    seeds,
    run,
    isExpected: isParseError,
    derives: name.startsWith('rpc') || ['height', 'kernel-files', 'forkpoint'].includes(name),
  })
  return [
    parser(
      'journal-entry',
      [
        JSON.stringify({ ...ENTRY, MESSAGE: 'committed block' }),
        JSON.stringify({ ...ENTRY, MESSAGE: [27, 91, 51, 49, 109, 104, 105], _LINE_BREAK: 'line-max' }),
        JSON.stringify({ ...ENTRY, MESSAGE: ['one', [116, 119, 111]], UNIT: 'chain-rpc.service' }),
      ],
      (text) => {
        const joiner = createLineJoiner()
        return text.split('\n').map((line) => [joiner.join(parseJournalEntry(line)), joiner.takeLostCount()])
      },
    ),
    parser('log-line', [...linesOf('execution-log'), ...linesOf('ledger-tail')], (text) =>
      parseLogLine(withoutPrintedPrefix(text)),
    ),
    parser(
      'kernel-files',
      [...KERNEL_TEXTS, ...filesOf('host').filter((text) => /^cpu|^Limit/.test(text))],
      each(
        kernel.parseBootTime,
        kernel.parseMemory,
        kernel.parsePressure,
        kernel.parseOpenFilesLimit,
        kernel.parseListeners,
        kernel.parseDefaultInterface,
        (text) => kernel.parseColumns('a file', 'Udp', text),
        (text) => kernel.parseNamedCount('oom_kill', text),
        (text) => kernel.parseCount('a file', text),
        (text) => kernel.parseSwitch('a file', text),
        (text) => kernel.parseTemperature('a file', text),
        (text) => kernel.parseWord('a file', text),
      ),
    ),
    parser(
      'timedatectl',
      [...filesOf('host').filter((text) => text.includes('Packet')), 'NTPSynchronized=yes\n', '  Offset: +1min 2.5s\n'],
      each(parseTimesyncOffset, parseNtpSynchronized, (text) => parseTracking(text, 1_788_231_600_000)),
    ),
    parser(
      'dpkg',
      [
        'ii  maker 1:0.16.2+1 amd64 1747699200\n',
        'un  maker  \n',
        'vmlinuz-6.8.0-100-generic\nvmlinuz-6.8.0-rc1\n',
        'v0.14.2-rc.2',
        'Name/0.14.2',
      ],
      each(parseInstalledPackage, versionIn, (text) => newestKernel(text.split('\n'))),
    ),
    parser(
      'rpc-values',
      RPC_SEEDS,
      each(parseRpcQuantity, parseRpcAmount, parseRpcBlock, parseRpcBeneficiary, parseRpcText, parseRpcBytes),
    ),
    parser('forkpoint', filesOf('validators'), parseEpochStarts),
    parser('height', ['{"height":41000110}', '{"height":null}'], parseHeight),
    parser('mpt-failure', filesOf('mpt/failures'), readStorageFailure),
    parser(
      'unit-files',
      [UNIT, 'Id=a.service\nLoadState=loaded\nDropInPaths=/a /b\n', '[Service]\nExecStart=/x \\\n -y\n'],
      (text) => [parseUnitFiles(text), unitLines(text), parseSystemdTime(text)],
    ),
    parser(
      'keystore-files',
      [...filesOf('keystore'), "export KEYSTORE_PASSWORD='a b'\n", 'KEYSTORE_PASSWORD="a\\"b"\n'],
      (text) => [readKeyMaterial(text), readPassword(text)],
    ),
    parser(
      'events',
      [JSON.stringify(EVENT), JSON.stringify({ total: 1, oldestAt: EVENT.at, newestId: 7, events: [EVENT] })],
      each(parseEvent, parseEventsPage),
    ),
    parser('units', ['1h30m', '500ms', '1.5 TiB', '500GB'], each(parseDuration, parseBytes)),
  ]
}

const isConfigError = (error: unknown): boolean => error instanceof ConfigError

const FLAG_VALUES = ['[a, b]', '{a: {b: 1}}', '- a\n- b', '&a [*a]', ...'5s true "text" 0x10 1_000 .inf ~'.split(' ')]

const configTargets = (): readonly Target[] => {
  const target = (name: string, seeds: readonly string[], run: Target['run']): Target => ({
    name,
    seeds,
    run,
    isExpected: isConfigError,
  })
  const others = keys.filter(({ isText }) => !isText)
  return [
    target(
      'configuration',
      [
        ...readFileSync('config.example.yaml', 'utf8')
          .split(/\n(?=\S)/)
          .map((section) => section.replaceAll(/^( *)# ?/gm, '$1')),
        'listen: 127.0.0.1:9843\nrpc:\n  url: http://localhost:8080\n  interval: 2s\n',
        'references:\n  - name: a\n    url: https://a.example/KEY\n',
      ],
      (text) => loadConfig({ file: parseConfigFile('agent.yaml', text), env: {}, flags: [] }),
    ),
    target('flags', FLAG_VALUES, (text) => {
      const key = others[text.length % others.length]
      const path = key?.path ?? ''
      return loadConfig({ env: { [key?.variable ?? '']: text }, flags: [{ path, value: text, typed: '--set' }] })
    }),
    target('forks', [readFileSync('networks/forks.yaml', 'utf8').slice(0, 2000)], (text) =>
      parseForks(parseConfigFile('forks.yaml', text), Infinity),
    ),
  ]
}

const QUERY = {
  from_block: 1,
  to_block: 20,
  logs: [{ address: [`0x${'ab'.repeat(20)}`], topics: [[`0x${'cd'.repeat(32)}`], []] }],
  field_selection: { log: ['data', 'address'] },
}

const queryTarget = (dialect: Dialect): Target => {
  const parse = createQueryParser({ dialect, scope: { addresses: [], topics: [] }, limits: QUERY_LIMITS })
  const hosted = { ...QUERY, join_mode: 'Default', max_num_logs: 5, include_all_blocks: true, transactions: [] }
  return {
    name: `query-${dialect}`,
    seeds: [JSON.stringify(QUERY), JSON.stringify(dialect === 'spec' ? { ...QUERY, to_block: null } : hosted)],
    run: (text) =>
      parse(parseBody(Buffer.from(text), { depth: QUERY_LIMITS.bodyDepth, values: QUERY_LIMITS.bodyValues })),
    isExpected: (error) => error instanceof HttpError,
  }
}

/** The secret is planted on a line of its own after the mutated text. */
const SECRET = 'hunter2Zq'
const PLANTED = [`password=${SECRET}`, `--keystore-password ${SECRET}`, `https://host.example/v2/${SECRET}`]

class LeakError extends Error {
  override name = 'LeakError'
}

const redactionTarget = (name: string, redactText: (text: string) => string, forms = PLANTED): Target => ({
  name,
  seeds: [
    ...linesOf('execution-log'),
    ...linesOf('consensus-log').map(innerLine),
    'password: hunter2',
    '{"secret":{"a":[1,2]},"b":"x"}',
    'Authorization: Bearer abc/def, sent to https://u:p@host.example/v2/KEY?x=1',
    'mnemonic abandon ability able about above absent absorb abstract absurd abuse access accident',
  ],
  run: (text) => {
    const redacted = redactText(text)
    const planted = forms[text.length % forms.length] ?? ''
    if (redactText(`${text}\n${planted}`).includes(SECRET)) throw new LeakError(planted)
    return redacted
  },
  isExpected: () => false,
})

/** Every parser, the configuration, the query API and the redaction. */
export const loadTargets = async (): Promise<readonly Target[]> => [
  ...(await formatTargets()),
  ...otherTargets(),
  ...configTargets(),
  queryTarget('spec'),
  queryTarget('hosted'),
  redactionTarget('redact-log', redactLog),
  // In a document a label and its value have a sign between them.
  redactionTarget(
    'redact-document',
    redactDocument,
    PLANTED.filter((form) => !form.startsWith('-')),
  ),
  { ...redactionTarget('redact-url', redact), run: redact },
  { ...redactionTarget('excerpt', excerpt), run: excerpt },
]
