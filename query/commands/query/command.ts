import { InvalidArgumentError, Option } from 'commander'
import { closestMatch } from '../../../src/core/suggest.ts'
import { LOG_FIELDS, type LogField } from '../../log-fields.ts'
import { defineCommand } from '../../../src/terminal/define-command.ts'
import { NO_VALUES, repeatable } from '../../../src/terminal/option-values.ts'
import { EXIT_CODES_NOTE, readAddress, readBlock, readTopic, serviceOptions, type Topics } from './service.ts'

const NO_TOPICS: Topics = []

/** `chain-agent query`: prints event logs, one row per log, or the newest block of the service. */
export const queryCommand = defineCommand({
  options: (command) =>
    serviceOptions(command)
      .option(
        '--address <address>',
        'logs of this contract; repeatable; default: all contracts',
        repeatable(readAddress),
        NO_VALUES,
      )
      .option(
        '--topic <topics>',
        '[POSITION:]VALUE[,VALUE]: a topic, an address or an event signature; repeatable',
        readTopic,
        NO_TOPICS,
      )
      .option('--fields <fields>', `fields of a row: ${LOG_FIELDS.join(', ')}`, readFields)
      .option('--from-block <number>', 'first block; default 0', readBlock)
      .option('--to-block <number>', 'last block; default: the height of the service', readBlock)
      .addOption(new Option('--format <format>', 'format of a row').choices(['ndjson', 'csv']).default('ndjson'))
      .option('-o, --output <file>', 'output file; it is created when the run is complete')
      .option('--resume', 'resume an earlier run with the same --output')
      .option('-q, --quiet', 'do not print the progress')
      .option('--height', 'print the newest block of the service instead of logs')
      .option('--json', 'print the height as JSON'),
  help: `Rows are ordered by block and log index, each log once, and always have these
two fields. Several --topic values for one position are alternatives; a log must
match every position that is given. Until the run is complete, the output is in
FILE.partial and the state for --resume in FILE.checkpoint; neither contains the
API key.

${EXIT_CODES_NOTE}

Examples:
  chain-agent query --url https://query.example --address 0x1111111111111111111111111111111111111111
  chain-agent query --url https://query.example --topic 'Transfer(address,address,uint256)' --from-block 1000
  chain-agent query --url https://query.example --topic 2:0x2222222222222222222222222222222222222222
  chain-agent query --url https://query.example --to-block 2000 --format csv --output logs.csv --resume
  chain-agent query --url https://query.example --height`,
  load: async () => (await import('./action.ts')).queryLogs,
})

const readFields = (text: string): readonly LogField[] =>
  text.split(',').map((word) => {
    const field = LOG_FIELDS.find((one) => one === word.trim())
    if (field) return field
    const meant = closestMatch(word.trim(), LOG_FIELDS)
    throw new InvalidArgumentError(
      meant === undefined ? `the fields are: ${LOG_FIELDS.join(', ')}` : `Did you mean ${meant}?`,
    )
  })
