import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { readCount, readDuration, readTime } from '../../terminal/option-values.ts'
import { hour, minute, second } from '../../core/units.ts'

/** `chain-agent what-changed`: the metrics that differ from the hour before. */
export const whatChangedCommand = defineCommand({
  options: (command, { clock }) =>
    configOptions(command)
      .option('--at <moment>', 'end of the window: 20m, 2026-03-01T12:00 (default: now)', readTime(clock))
      .option(
        '--for <duration>',
        'length of the window: 2m, 1h',
        readDuration({ min: 30 * second, max: hour, example: '10m' }),
        10 * minute,
      )
      .option('-n, --lines <count>', 'the first N metrics', readCount('metrics'), 10)
      .option('--json', 'as JSON'),
  help: `The window is compared with the hour before it. A value counts by its distance
from the usual one, in units of its usual spread: no limit must be set, and what
also happened before does not count. The metric that differed for the longest
part of the window is first: a cause precedes what follows from it. Of the
series of a metric, the one that changed most is printed. Metrics of one source
that became absent together are one row, and so are those that no longer
increase.

A counter that was constant counts by its value, others by their rate; a
timestamp that advances by its age, a histogram by its mean. Metrics of the
agent itself are marked; those of its process and the health are last.

The running agent has the samples of its last two hours, one for each 15 s, in
memory. If it runs for less than an hour before the window, the window is
compared with that time.

Exit codes: 0 the changes were printed, also if there are none; 1 nothing to
compare with, or the agent could not be read; 2 usage error.

Examples:
  chain-agent what-changed
  chain-agent what-changed --at 2026-03-01T03:15 --for 20m
  chain-agent what-changed --json | jq -r '.changes[:5][].metric'`,
  load: async () => (await import('./action.ts')).showChanges,
})
