import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Profile, Standard } from '../../tokens/types.ts'
import {
  readAddress,
  readAddressOf,
  readBlock,
  type ServiceOptions,
  serviceOptions,
} from '../query/service-options.ts'

export interface Options extends ServiceOptions {
  readonly standard: Standard
  readonly token: string
  readonly profile?: Profile
  readonly fromBlock?: number
  readonly createdIn?: number
  readonly toBlock?: number
  readonly decimals?: number
  readonly checksum?: true
  readonly verify?: number
  readonly rpc?: string
  readonly format: 'table' | 'csv' | 'json'
  readonly lines: number
  readonly output?: string
  readonly checkpoint?: string
  readonly resume?: true
  readonly quiet?: true
}

export const balancesOptions = (command: Command): Command =>
  serviceOptions(command)
    .addOption(
      new Option('--standard <standard>', 'what the token is')
        .choices(['erc20', 'erc721', 'erc1155'])
        .makeOptionMandatory(),
    )
    .requiredOption('--token <address>', 'its contract', readAddress)
    .addOption(
      new Option('--profile <name>', 'a token with events of its own').choices(['weth', 'punks']),
    )
    .option('--from-block <number>', 'leave out what was before: the result is partial', readBlock)
    .option(
      '--created-in <number>',
      'the block that created the contract: nothing was before, and the result is whole',
      readBlock,
    )
    .option('--to-block <number>', "the last block; the service's height without it", readBlock)
    .option('--decimals <number>', 'amounts too, as units with so many decimals', readSmall(0, 255))
    .option('--checksum', 'addresses with the capitals of EIP-55')
    .option(
      '--verify <number>',
      'ask the contract for so many holders, at the last block',
      readSmall(1, 1000),
    )
    .option(
      '--rpc <url>',
      "whom --verify asks; the node's RPC (rpc.url) without it",
      readAddressOf('--rpc'),
    )
    .addOption(
      new Option('--format <format>', 'how it is written')
        .choices(['table', 'csv', 'json'])
        .default('table'),
    )
    .addOption(
      new Option('-n, --lines <number>', 'rows of the table')
        .argParser(readSmall(1, 100_000))
        .default(20),
    )
    .option('-o, --output <file>', 'into this file, which is there once it is complete')
    .option('--checkpoint <file>', 'keep the checkpoint there; with --output it is FILE.checkpoint')
    .option('--resume', 'go on from the checkpoint, where there is one')
    .option('-q, --quiet', 'without progress')

const readSmall =
  (least: number, most: number) =>
  (text: string): number => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number >= least && number <= most) return number
    throw new InvalidArgumentError(`expected a number from ${least} to ${most}`)
  }
