import { type Command, Option } from 'commander'
import { readNumber } from '../../../src/terminal/option-values.ts'
import type { Profile, Standard } from '../../tokens/types.ts'
import { readAddress, readAddressOf, readBlock, type ServiceOptions, serviceOptions } from '../query/service.ts'

export interface BalancesOptions extends ServiceOptions {
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

/** A sample that costs a node a few milliseconds. */
export const DEFAULT_SAMPLE = 10

export const balancesOptions = (command: Command): Command =>
  serviceOptions(command)
    .addOption(
      new Option('--standard <standard>', 'standard of the token')
        .choices(['erc20', 'erc721', 'erc1155'])
        .makeOptionMandatory(),
    )
    .requiredOption('--token <address>', 'contract of the token', readAddress)
    .addOption(new Option('--profile <name>', 'contract with additional transfer events').choices(['weth', 'punks']))
    .option('--from-block <number>', 'ignore the history before: the result is partial', readBlock)
    .option(
      '--created-in <number>',
      'block in which the contract was created: start there, with a full result',
      readBlock,
    )
    .option('--to-block <number>', 'last block; default: the height of the service', readBlock)
    .option('--decimals <number>', 'add amounts in units with this number of decimals', readNumber(0, 255))
    .option('--checksum', 'print addresses in the mixed case of EIP-55')
    .option(
      '--verify <number>',
      `compare this number of holders with the contract, at the last block; default: ${DEFAULT_SAMPLE} if an RPC is configured; 0: none`,
      readNumber(0, 1000),
    )
    .option('--rpc <url>', 'RPC to compare with; default: the RPC of the node (rpc.url)', readAddressOf('--rpc'))
    .addOption(
      new Option('--format <format>', 'format of the output').choices(['table', 'csv', 'json']).default('table'),
    )
    .addOption(
      new Option('-n, --lines <number>', 'number of rows of the table').argParser(readNumber(1, 100_000)).default(20),
    )
    .option('-o, --output <file>', 'output file; it is created when the result is complete')
    .option('--checkpoint <file>', 'checkpoint file; default with --output: FILE.checkpoint')
    .option('--resume', 'resume from the checkpoint, if it exists')
    .option('-q, --quiet', 'do not print the progress')
