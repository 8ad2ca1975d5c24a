import { Argument } from 'commander'
import { defineCommand } from '../../terminal/define-command.ts'
import { readPageUrl } from '../../terminal/option-values.ts'
import { NAMES } from './names.ts'

/** `chain-agent dashboards`: the dashboards with the links of an installation. */
export const dashboardsCommand = defineCommand({
  options: (command) =>
    command
      .addArgument(new Argument('[name]', 'the dashboard to print; default: list their names').choices(NAMES))
      .option('-o, --output <directory>', 'write all dashboards into this directory')
      .option('--runbooks <url>', 'where you publish docs/runbooks; {alert} stands for the name', readPageUrl),
  help: `The limits in the dashboards are the default limits of the alerts: limits that
you set for the rules do not change them.

Exit codes: 0 the dashboards were written, 1 they were not, 2 usage error.

Examples:
  chain-agent dashboards --output /var/lib/grafana/dashboards/chain-agent --runbooks https://wiki.example/runbooks
  chain-agent dashboards node | jq .uid`,
  load: async () => (await import('./action.ts')).writeDashboards,
})
