import { Option } from 'commander'
import { defineConfigured } from '../../terminal/configured-command.ts'
import { readCount, readTime } from '../../terminal/option-values.ts'

/** `chain-agent ledger`: one line per block, with the rounds that produced no block. */
export const ledgerCommand = defineConfigured({
  needsNode: true,
  json: 'as JSON; one line per event with --follow',
  options: (command, { clock }) =>
    command
      .addOption(new Option('-f, --follow', 'print new blocks until Ctrl-C').conflicts(['until', 'file']))
      .option('-n, --lines <number>', 'the last N blocks; default 20, without a time and a file', readCount('blocks'))
      .option('-S, --since <time>', 'start: 1h, 2026-03-01T12:00, yesterday', readTime(clock))
      .option('-U, --until <time>', 'end', readTime(clock))
      .option('--file <file>', 'lines of the stream, or output of journalctl; - for standard input')
      .option('--names', 'names instead of keys, from names.file in the configuration')
      .option('--finalized', 'also print finalized blocks; by default they are only counted'),
  help: `Reads the ledger stream of the service ledger-tail, which is optional: start it
to use this command. Each line has the time at which the block was seen (UTC),
its round and number, transactions, its proposer, and the delay after its own
timestamp. Own blocks, timeouts and skipped rounds are marked.

Exit codes: 0 blocks were printed, 1 there are none or they could not be read,
2 usage error.

Examples:
  chain-agent ledger -f
  chain-agent ledger --since 10m --names
  journalctl -u chain-ledger-tail -o json | chain-agent ledger --file -`,
  load: async () => (await import('./action.ts')).printLedger,
})
