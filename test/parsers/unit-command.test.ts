import { describe, expect, test } from 'vitest'
import { NODE_ARGUMENTS } from '../../src/domain/node-arguments.ts'
import { commandsOf } from '../../src/parsers/unit-command.ts'

const CANARY = 'Hunter2'
const known = NODE_ARGUMENTS['bft'] ?? new Map()
const read = (...lines: readonly string[]) => commandsOf(['[Service]', ...lines].join('\n'), known)
const argumentsOf = (line: string) => {
  const [command] = read(`ExecStart=/bin/node ${line}`)
  return typeof command === 'object' ? command.arguments.map(({ name, value }) => [name, value]) : []
}

describe('a unit', () => {
  test('as the package has it: continued lines, quotes, a variable for the password', () => {
    const lines = [
      'Type=simple',
      'ExecStart=/usr/local/bin/chain-node \\',
      '    --secp-identity /home/chain/id-secp \\',
      '# a comment does not end the line',
      '    --otel-endpoint "http://127.0.0.1:4317" \\',
      '    --wal-chunks=16 \\',
      '    --keystore-password "${KEYSTORE_PASSWORD}"',
      `Environment="KEYSTORE_PASSWORD=${CANARY}"`,
    ]
    expect(read(...lines)).toEqual([
      {
        program: '/usr/local/bin/chain-node',
        arguments: [
          { name: 'secp-identity', value: '/home/chain/id-secp' },
          { name: 'otel-endpoint', value: 'http://127.0.0.1:4317' },
          { name: 'wal-chunks', value: '16' },
          { name: 'keystore-password', value: '${KEYSTORE_PASSWORD}' },
        ],
      },
    ])
  })
  test('an empty command removes those before it, and other sections have none', () => {
    expect(commandsOf('[Unit]\nExecStart=/bin/a\n[Service]\nExecStart=\nExecStart=-/bin/b\n', known)).toEqual([
      'reset',
      { program: '/bin/b', arguments: [] },
    ])
  })
  test('names with underscores are those with dashes', () => {
    expect(argumentsOf('--wal_chunks 3')).toEqual([['wal-chunks', '3']])
  })
  // systemd 252 (systemd-analyze verify) reads no section that begins with X-, and any header ends the one before it.
  test.each(['X-Old', 'Old-X', 'Install'])('a section %s ends that of the service', (section) => {
    expect(commandsOf(`[Service]\nExecStart=/bin/a\n  [${section}]\nExecStart=/bin/b --y 2\n`, known)).toEqual([
      { program: '/bin/a', arguments: [] },
    ])
  })
  test('two backslashes at the end of a line do not continue it', () => {
    expect(read('ExecStart=/bin/a \\\\', 'ExecStart=/bin/b')).toMatchObject([
      { program: '/bin/a' },
      { program: '/bin/b' },
    ])
  })
  test('words that are no known option are counted', () => {
    expect(argumentsOf('--db-token x --wal-chunks 3 y')).toEqual([
      ['wal-chunks', '3'],
      ['(other words)', '3'],
    ])
  })
  test('a known option is no value of the one before it', () => {
    expect(argumentsOf('--otel-endpoint --wal-chunks 3')).toEqual([
      ['otel-endpoint', null],
      ['wal-chunks', '3'],
    ])
  })
})

describe('a password', () => {
  test.each([
    ["''", '(empty)'],
    ['""', '(empty)'],
    ['${KEYSTORE_PASSWORD}', '${KEYSTORE_PASSWORD}'],
    ['${keystore_password}', '(variable)'],
    ['$keystore_password', '(variable)'],
    ['%d/pw', '(variable)'],
    ['%d', '(variable)'],
    ['%%d/pw', '(set)'],
    ['$$keystore', '(set)'],
    ['pw', '(set)'],
  ])('%s is shown as %s', (text, shown) => {
    expect(argumentsOf(`--keystore-password ${text}`)).toEqual([['keystore-password', shown]])
  })
  test('after = without a value is empty', () => {
    expect(argumentsOf('--keystore-password=')).toEqual([['keystore-password', '(empty)']])
  })
})

describe('a secret is never in the result', () => {
  test.each([
    ['the password', `--keystore-password ${CANARY}`],
    ['with =', `--keystore-password=${CANARY}`],
    ['in quotes, like an option', `--keystore-password "--${CANARY}"`],
    ['like an option', `--keystore-password --${CANARY}`],
    ['with a dollar', `--keystore-password $$${CANARY}`],
    ['with spaces', `--keystore-password 'my --${CANARY} --x'`],
    ['in parts', `--keystore-password "a"${CANARY}'b'`],
    ['after a quote without its end', `--keystore-password "my --${CANARY}`],
    ['after a variable', `--keystore-password \${KEY}${CANARY}`],
    ['of an unknown option', `--api-token ${CANARY}`],
    ['of an unknown option with =', `--api-token=${CANARY}`],
    ['a word', `${CANARY} --wal-chunks 3`],
    ['a number that is none', `--wal-chunks ${CANARY}`],
    ['a path that is none', `--wal-path ${CANARY}`],
    ['in a URL: user', `--otel-endpoint https://u:${CANARY}@collector`],
    ['in a URL: path', `--otel-endpoint https://collector/${CANARY}`],
    ['in a URL: query', `--otel-endpoint https://collector?key=${CANARY}`],
    ['in a script', `-c 'exec node --keystore-password ${CANARY}'`],
    ['that looks like a short option', `-p${CANARY}`],
    ['that looks like an option', `--${CANARY}`],
    ['that looks like an option with a value', `--${CANARY}=x`],
    ['of an unknown option, like a short option', `--db-token -${CANARY}`],
    ['of an unknown option, like an option', `--db-token --${CANARY}`],
    ['of an unknown short option, like an option', `-p --${CANARY}`],
    ['after a script, like an option', `-lc exec --${CANARY}`],
    ['after two dashes', `-- ${CANARY} --${CANARY}`],
    ['after a password and two dashes', `--keystore-password -- --${CANARY}`],
    ['after an option with one dash', `-wal-path ${CANARY}`],
  ])('%s', (_, line) => {
    const found = argumentsOf(line)
    expect(found).not.toEqual([])
    expect(JSON.stringify(found)).not.toContain(CANARY)
  })
  test('the program', () => {
    expect(read(`ExecStart=node${CANARY}`)).toEqual([{ program: '(set)', arguments: [] }])
  })
})

test('every option of the package is known', () => {
  // The options of debian/usr/lib/systemd/system/monad-{bft,execution,rpc}.service of monad-bft v0.16.0.
  const packaged = {
    bft: 'secp-identity bls-identity node-config forkpoint-config wal-path mempool-ipc-path control-panel-ipc-path statesync-ipc-path ledger-path triedb-path otel-endpoint statesync-sq-thread-cpu record-metrics-interval-seconds validators-path persisted-peers-path keystore-password',
    execution: 'chain db block-db statesync sq-thread-cpu log-level',
    rpc: 'ipc-path triedb-path otel-endpoint allow-unprotected-txs node-config',
  }
  for (const [service, names] of Object.entries(packaged))
    for (const name of names.split(' ')) expect(NODE_ARGUMENTS[service]?.has(name), name).toBe(true)
})
