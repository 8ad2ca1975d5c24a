import { resolve } from 'node:path'
import { type Command, Option } from 'commander'
import type { Inputs } from '../../config/load.ts'
import { type ConfigOptions, flagsOf, fileAndSettingOptions } from '../../cli/config-options.ts'
import { readAddress } from '../query/service-options.ts'
import { readTopic, type Topics } from '../query/topics.ts'

export interface Options extends Omit<ConfigOptions, 'listen' | 'prefix'> {
  readonly listen?: string
  readonly metricsListen?: string
  readonly store?: string
  readonly storePasswordFile?: string
  readonly fromBlock?: string
  readonly contract: readonly string[]
  readonly topic: Topics
  readonly retentionBlocks?: string
  readonly retentionBytes?: string
  readonly unbounded?: true
  readonly nodeShare?: string
  readonly dialect?: string
  readonly apiKeysFile?: string
  readonly rateLimit?: string
  readonly readyLag?: string
}

const NONE: readonly string[] = []
const NO_TOPICS: Topics = []

export const serveQueryOptions = (command: Command): Command =>
  fileAndSettingOptions(
    command
      .option('--listen <host:port>', 'where queries are answered; 127.0.0.1:8181 without it')
      .option(
        '--metrics-listen <host:port>',
        'where /metrics, /-/healthy and /-/ready are; 127.0.0.1:9144 without it',
      )
      .option(
        '--store <place>',
        'where logs are kept: a directory, or clickhouse://USER@HOST:8123/DATABASE',
      )
      .option('--store-password-file <file>', 'a file with the password of that user alone')
      .option('--from-block <number>', 'the first block, where the store is empty; 0 without it')
      .option(
        '--contract <address>',
        'keep logs of this contract alone; repeatable, of all contracts without it',
        (text: string, before: readonly string[]) => [...before, readAddress(text)],
        NONE,
      )
      .option(
        '--topic <topics>',
        '[POSITION:]VALUE[,VALUE]: keep logs with such a topic alone: a topic, an address, or the text of an event; repeatable',
        readTopic,
        NO_TOPICS,
      )
      .option('--retention-blocks <number>', 'keep so many of the newest blocks')
      .option('--retention-bytes <size>', 'keep the newest blocks that fit into it, like 500GB')
      .option('--unbounded', 'keep everything, whatever it takes')
      .option(
        '--node-share <0.05-1>',
        'the share of the time in which a back-fill may keep the node busy, where 1 is always; 0.5 without it',
      )
      .addOption(
        new Option(
          '--dialect <dialect>',
          'hosted is for clients of the hosted service; spec without it',
        ).choices(['spec', 'hosted']),
      )
      .option(
        '--api-keys-file <file>',
        'a file with API keys, one a line; all are answered without',
      )
      .option('--rate-limit <number>', 'how many requests a minute a key, or an address, may make')
      .option(
        '--ready-lag <blocks>',
        'how far behind the node /-/ready is still ready; 30 without it',
      ),
  )

/** What was said on the command line, as the configuration takes it. */
export const flagsOfService = (options: Options): Inputs['flags'] => {
  const { contract, topic, unbounded, store } = options
  const given = [
    ['listen', '--listen', options.listen],
    ['metricsListen', '--metrics-listen', options.metricsListen],
    ['store', '--store', store === undefined || store.includes('://') ? store : resolve(store)],
    ['storePasswordFile', '--store-password-file', whole(options.storePasswordFile)],
    ['fromBlock', '--from-block', options.fromBlock],
    ['contracts', '--contract', contract.length === 0 ? undefined : JSON.stringify(contract)],
    ['topics', '--topic', topic.length === 0 ? undefined : JSON.stringify(topic)],
    ['retentionBlocks', '--retention-blocks', options.retentionBlocks],
    ['retentionBytes', '--retention-bytes', options.retentionBytes],
    ['unbounded', '--unbounded', unbounded && 'true'],
    ['nodeShare', '--node-share', options.nodeShare],
    ['dialect', '--dialect', options.dialect],
    ['apiKeysFile', '--api-keys-file', whole(options.apiKeysFile)],
    ['rateLimit', '--rate-limit', options.rateLimit],
    ['readyLag', '--ready-lag', options.readyLag],
  ] as const
  const { config, rpcUrl, logLevel, set } = options
  return [
    ...flagsOf({
      set,
      ...(config !== undefined && { config }),
      ...(rpcUrl !== undefined && { rpcUrl }),
      ...(logLevel !== undefined && { logLevel }),
    }),
    ...given.flatMap(([key, typed, value]) =>
      value === undefined ? [] : [{ path: `serveQuery.${key}`, value, typed }],
    ),
  ]
}

/** The configuration knows no directory that we stand in. */
const whole = (path: string | undefined): string | undefined =>
  path === undefined ? undefined : resolve(path)
