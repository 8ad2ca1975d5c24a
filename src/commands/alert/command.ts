import { Option } from 'commander'
import { hour, minute, second } from '../../core/units.ts'
import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { readDuration } from '../../terminal/option-values.ts'

const EXIT_CODES = 'Exit codes: 0 every service accepted it; 1 not, or unknown; 2 usage error.'

/** `chain-agent alert`: whether an alert arrives. */
export const alertCommand = defineCommand({
  help: `The agent sends its alerts to each Alertmanager of the configuration, without
Prometheus or next to it:

  alertmanagers:
    urls: [http://127.0.0.1:9093]

Without one, no one is notified by the agent. docs/how-to/first-message.md has
the steps to the first message on a phone.

${EXIT_CODES}

Examples:
  chain-agent alert test
  chain-agent alert test --severity warning --alertmanager http://127.0.0.1:9093`,
  subcommands: () => ({ test: testCommand }),
})

const testCommand = defineCommand({
  summary: 'send one marked alert through Alertmanager, and follow it to its receivers',
  options: (command) =>
    configOptions(command)
      .addOption(
        new Option('--severity <severity>', 'severity of the alert, which decides its route')
          .choices(['critical', 'warning', 'info'])
          .default('critical'),
      )
      .option('--alertmanager <url>', 'address of Alertmanager (default: each of alertmanagers.urls)')
      .addOption(
        new Option('--wait <duration>', 'how long the delivery may take: 30s, 6m')
          .argParser(readDuration({ min: second, max: hour, example: '2m' }))
          .default(2 * minute, '2m'),
      )
      .option('--json', 'as JSON'),
  help: `Sends the alert "ChainTest TIME" with the labels of this node to each
Alertmanager of the configuration, and reports the receivers to which it is
routed and whether each of their integrations has handed it to its service, by
the metrics of Alertmanager. The message has four digits, which the output
names: look for them on your phone. A service can accept a message and drop it.

The state is "cannot tell", and the exit code 1, if the metrics may count
another alert: only the four digits on your phone show then that it works. A
notification waits for group_wait of its route, and with other alerts for
group_interval: use a longer --wait. In a cluster one Alertmanager sends: name
it with --alertmanager. If heartbeat.urlFile is set, a heartbeat {"test": true}
is sent as well. docs/how-to/first-message.md has what each state means.

${EXIT_CODES}

Examples:
  chain-agent alert test
  chain-agent alert test --severity warning
  chain-agent alert test --alertmanager http://127.0.0.1:9093 --wait 6m`,
  load: async () => (await import('./action.ts')).testAlert,
})
