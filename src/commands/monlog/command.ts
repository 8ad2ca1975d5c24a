import { Option } from 'commander'
import type { Clock } from '../../core/clock.ts'
import { parseDuration } from '../../core/units.ts'
import type { RangeStart } from './fold.ts'
import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { readTime } from '../../terminal/option-values.ts'
import { readWatchSeconds } from '../../terminal/watch.ts'

/** `chain-agent monlog`: analyses the last 60 seconds of the consensus log. */
export const monlogCommand = defineCommand({
  options: (command, { clock }) =>
    configOptions(command)
      .option('-r, --raw', 'also print the newest 10 log lines in full, with secrets redacted')
      .option('-n, --names', 'print names instead of keys, from the file set by names.file')
      .addOption(
        new Option('--since <time>', 'start: a duration such as 10m or a UTC time, at most 1 h before the end')
          .argParser(readSince(clock))
          .default(undefined, '60s'),
      )
      .addOption(
        new Option('--until <time>', 'end, for a reproducible report')
          .argParser(readTime(clock))
          .default(undefined, 'now'),
      )
      .option('--file <file|->', 'read a file instead of the journal, or - for standard input')
      .option('--json', 'as JSON; with --watch one document per line')
      .addOption(
        // Reading a minute of a log at DEBUG takes seconds of CPU time.
        new Option('--watch [seconds]', 'refresh every N seconds (default 10)')
          .argParser(readWatchSeconds)
          .preset('10')
          .conflicts(['until', 'file']),
      ),
  help: `Each minute is analysed separately, and --since is rounded up to whole minutes.
The line LOG is about the newest minute; earlier findings are listed with their
time. Without names.file, -n shows keys. --file reads output of
\`journalctl -u UNIT --all\`, also with -o json, or the lines as the service wrote
them; the analysis ends with the newest line. The last 60 seconds of a node at
DEBUG take a second or two to read. --watch needs a fraction of the CPU time of
\`watch chain-agent monlog\`, which starts a process each time.

The first lines are the state of the node and its recovery, as of \`check\`; the
line LOG has what the log shows. They are read from the running agent or, if no
agent answers, from the node itself (with --watch only from an agent), and not
with --file or --until.

Exit codes: 0 the node is healthy, and its log shows blocks; 1 something needs
attention; 2 the node does not do its work, the log shows no blocks, or that is
unknown.

Examples:
  chain-agent monlog
  chain-agent monlog --watch
  chain-agent monlog -r -n
  chain-agent monlog --since 15m
  chain-agent monlog --since '2026-05-02 08:00' --until '2026-05-02 08:10'
  zcat node.log.gz | chain-agent monlog --file -`,
  load: async () => (await import('./action.ts')).printAnalysis,
})

/** A duration counts back from the end of the range. */
const readSince =
  (clock: Clock) =>
  (text: string): RangeStart => {
    const ago = parseDuration(text.replace(/^-/, ''))
    return ago === undefined ? { at: readTime(clock)(text) } : { ago }
  }
