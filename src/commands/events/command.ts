import { Option } from 'commander'
import { SEVERITIES } from '../../domain/event.ts'
import { defineConfigured } from '../../terminal/configured-command.ts'
import { readNumber, readTime } from '../../terminal/option-values.ts'

/** `chain-agent events`: the timeline of state changes. */
export const eventsCommand = defineConfigured({
  json: 'as JSON; one line per change with -f',
  options: (command, { clock }) =>
    command
      .option('-S, --since <moment>', 'start: 1d, 2026-03-01', readTime(clock))
      .option('-n, --lines <count>', 'the newest N changes', readNumber(1, 999_999), 100)
      .option('-f, --follow', 'print new changes until Ctrl-C')
      .option('--collector <name>', 'only changes of this collector, of `alerts`, or of the `agent` itself')
      .addOption(
        new Option('--severity <severity>', 'only changes of at least this severity')
          .choices(SEVERITIES)
          .default('info'),
      )
      .option('--all', 'also the first reading of each subject'),
  help: `Oldest first. Read from the running agent, or from its file in state.directory
if no agent is running. The agent keeps the newest 10,000 changes (events.keep);
a restart of the agent adds no duplicates.

The alert rules decide what is a problem: an alert that begins to fire has the
severity of its rule, critical (marked with a cross, or x in ASCII), warning (!)
or info. A collector without a reading is a warning. All other changes are info.

Exit codes: 0 the events were read, also if there are none; 1 they could not be
read; 2 usage error.

Examples:
  chain-agent events
  chain-agent events --since 1d -n 1000 --collector services
  chain-agent events --since 1d --collector alerts
  chain-agent events -f
  chain-agent events --json | jq -r '.events[] | select(.subject == "bft") | .at + " " + .to'`,
  load: async () => (await import('./action.ts')).printEvents,
})
