import { Option } from 'commander'
import { defineConfigured } from '../../terminal/configured-command.ts'
import { readTime } from '../../terminal/option-values.ts'

/** `chain-agent monlog`: analyses the last 60 seconds of the consensus log. */
export const monlogCommand = defineConfigured({
  needsNode: true,
  json: 'as JSON',
  options: (command, { clock }) =>
    command
      .option('-r, --raw', 'also print the newest 10 log lines in full, with secrets redacted')
      .option('-n, --names', 'print names instead of keys, from the file set by names.file')
      .addOption(
        new Option('--until <time>', 'end of the 60 seconds, for a reproducible report')
          .argParser(readTime(clock))
          .default(undefined, 'now'),
      )
      .option('--file <file|->', 'read a file instead of the journal, or - for standard input'),
  help: `Without names.file, -n shows keys. --file reads output of
\`journalctl -u UNIT --all\`, also with -o json, or the lines as the service wrote
them; the 60 seconds end with the newest line. Those of a node at DEBUG take a
second or two to read. To repeat the report: \`watch -d chain-agent monlog\`.

The first lines are the state of the node and its recovery, as of \`check\`; the
line LOG has what the log shows. They are read from the running agent or, if no
agent answers, from the node itself, and not with --file or --until.

Exit codes: 0 the node is healthy, and its log shows blocks; 1 something needs
attention; 2 the node does not do its work, the log shows no blocks, or that is
unknown.

Examples:
  chain-agent monlog
  chain-agent monlog -r -n
  chain-agent monlog --until '2026-05-02 08:10'
  zcat node.log.gz | chain-agent monlog --file -`,
  load: async () => (await import('./action.ts')).printAnalysis,
})
