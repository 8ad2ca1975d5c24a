import { readdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { Command } from 'commander'
import { expect, it, onTestFinished } from 'vitest'
import {
  serveQueryInputs,
  type ServeQueryFlags,
  serveQueryOptions,
} from '../../../query/commands/serve-query/command.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { cli } from '../../support/cli.ts'
import { temporaryFolder } from '../../support/directory.ts'
import { listening } from '../../support/http.ts'
import { testUsageErrors } from '../../support/usage-errors.ts'

const directory = await temporaryFolder()
const ONE = `0x${'1'.repeat(40)}`
const serve = (...words: readonly string[]) => cli(['serve-query', '--store', join(directory, 'store'), ...words])

it('does not start without a limit for the store', async () => {
  const { code, out, err } = await serve()
  expect([code, out]).toEqual([2, ''])
  expect(err).toBe(
    `The configuration cannot be used; nothing was started.
serveQuery: the store would keep all logs of all contracts without a limit; a busy chain fills a disk in days
  what to do: limit the logs with --contract or --topic, or the blocks with --retention-blocks or --retention-bytes,
  or use --unbounded to keep everything
`,
  )
  expect(await readdir(directory)).toEqual([])
})

testUsageErrors(
  ['serve-query', '--store', join(directory, 'store')],
  [
    [['--contract', '0x12'], /--contract.*expected an address/],
    [['--topic', 'Transfer(addres)'], /--topic.*expected a topic/],
    [['--unbounded', '--retention-blocks', '5'], /--unbounded: serveQuery.unbounded: expected without/],
    [['--unbounded', '--dialect', 'other'], /--dialect.*spec, hosted/],
    [['--unbounded', '--node-share', '0.04'], /--node-share: .*expected a share.* from 0\.05 to 1/],
    [['--unbounded', '--from-block', '-1'], /--from-block: .*expected a whole number/],
    [['--unbounded', '--store', 'clickhouse://me@one,two/logs'], /several servers, but no cluster/],
    [['--unbounded', '--store-password-file', '/x'], /a directory has no password/],
    [['--retention-bytes', 'much'], /--retention-bytes: .*like 500GB/],
  ],
)

it('reports the file and line of a configuration error, and options override the file', async () => {
  const file = join(directory, 'config.yaml')
  await writeFile(file, `serveQuery:\n  contracts: ['${ONE}']\n  dialect: other\n`)
  const { code, err } = await cli(['serve-query', '--config', file])
  expect([code, err]).toEqual([2, expect.stringMatching(/config\.yaml:3: serveQuery\.dialect: /)])
  const config = ['config', '--config', file, '--set', 'serveQuery.dialect=hosted']
  const { out } = await cli(config)
  expect(out).toMatch(/dialect: hosted +# --set serveQuery.dialect/)
})

it('names an address in use and the option to change it, and creates no store', async () => {
  const { url, close } = await listening(createServer())
  onTestFinished(close)
  const words = ['--unbounded', '--set', 'serveQuery.metricsListen=127.0.0.1:0']
  const { code, err } = await serve(...words, '--listen', new URL(url).host)
  expect([code, err]).toEqual([1, expect.stringMatching(/another program.*--listen HOST:PORT/s)])
  expect(await readdir(directory)).not.toContain('store')
})

it('checks that a store can be created before it reports that it is running, with or without a node', async () => {
  const words = ['--unbounded', '--rpc-url', 'http://127.0.0.1:1', '--listen', '127.0.0.1:0']
  const anyPort = ['--set', 'serveQuery.metricsListen=127.0.0.1:0']
  const file = join(directory, 'file')
  await writeFile(file, '')
  for (const [place, happened] of [
    ['/proc/x', 'there is no such file or directory'],
    [file, 'part of the path is not a directory'],
    [join(file, 'store'), 'part of the path is not a directory'],
  ] as const) {
    const { code, err } = await serve(...words, ...anyPort, '--store', place)
    expect(code).toBe(1)
    expect(err).toContain(`Could not create a store in ${place}: `)
    expect(err).toContain(happened)
    expect(err).toContain('--store')
    expect(err).not.toContain('Serving')
  }
})

it('every option is a key of the configuration', () => {
  const given: Readonly<Record<string, string>> = {
    '--listen': '127.0.0.2:1',
    '--metrics-listen': '127.0.0.3:2',
    '--store': 'clickhouse://one:1/logs',
    '--store-password-file': '/password',
    '--from-block': '3',
    '--contract': ONE,
    '--topic': `2:${ONE}`,
    '--retention-blocks': '4',
    '--retention-bytes': '5GB',
    '--node-share': '0.05',
    '--dialect': 'hosted',
    '--api-keys-file': '/keys',
    '--rate-limit': '6',
    '--ready-lag': '7',
  }
  const words = Object.entries(given).flat()
  const command = serveQueryOptions(new Command()).parse(['--rpc-url', 'http://node:1', ...words], {
    from: 'user',
  })
  const flags = serveQueryInputs(command.opts<ServeQueryFlags>())
  expect(loadConfig({ env: {}, flags }).config).toMatchObject({
    rpc: { url: 'http://node:1' },
    serveQuery: {
      listen: { host: '127.0.0.2', port: 1 },
      metricsListen: { host: '127.0.0.3', port: 2 },
      store: 'clickhouse://one:1/logs',
      storePasswordFile: '/password',
      fromBlock: 3,
      contracts: [ONE],
      topics: [[], [], [`0x${'0'.repeat(24)}${'1'.repeat(40)}`]],
      retentionBlocks: 4,
      retentionBytes: 5e9,
      unbounded: false,
      nodeShare: 0.05,
      dialect: 'hosted',
      apiKeysFile: '/keys',
      rateLimit: 6,
      readyLag: 7,
    },
  })
  expect(flags.map(({ typed }) => typed)).toEqual(['--rpc-url', ...Object.keys(given)])
})
