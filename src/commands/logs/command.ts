import { Option } from 'commander'
import { defineConfigured } from '../../terminal/configured-command.ts'
import { readCount, readTime } from '../../terminal/option-values.ts'

/** `chain-agent logs SERVICE`: the log of a service, with secrets redacted. */
export const logsCommand = defineConfigured({
  needsNode: true,
  options: (command, { clock }) =>
    command
      .argument('<service>', 'bft, execution, rpc, ledger-tail, otelcol, cruft or agent, or the name of the unit')
      .addOption(new Option('-f, --follow', 'print new lines until Ctrl-C').conflicts('until'))
      .option('-S, --since <time>', 'start: 1h, 2026-03-01T12:00, yesterday', readTime(clock))
      .option('-U, --until <time>', 'end', readTime(clock))
      .option('-n, --lines <number>', 'the last N lines; default 50, without a time', readCount('lines'))
      .option('-g, --grep <pattern>', 'lines that match; case-sensitive if the pattern has a capital letter')
      .addOption(
        new Option('-o, --output <form>', 'short: for reading; raw: unchanged lines; json')
          .choices(['short', 'raw', 'json'])
          .default('short'),
      ),
  help: `Redacts passwords, tokens, keys, values after such names, and long hexadecimal
strings. Public keys, abbreviated ids, and hashes after a name that identifies
them are kept. Times are UTC. Lines are in the order in which they were
written; if the clock of the host was set, a note has the step.

Exit codes: 0 the log was read, also if no line matches; 1 it could not be read;
2 no such service, or usage error.

Examples:
  chain-agent logs bft -f
  chain-agent logs execution --since 10m --grep 'LOG_(WARNING|ERROR)'
  chain-agent logs rpc -o json -n 1000 | jq 'select(.level == "ERROR")'`,
  load: async () => (await import('./action.ts')).printLogs,
})
