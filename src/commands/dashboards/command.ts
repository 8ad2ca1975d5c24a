import { Command, Option } from 'commander'
import type { ExitCode, Io } from '../../terminal/io.ts'
import { readPageUrl } from '../../terminal/option-values.ts'
import type { DashboardsOptions } from './action.ts'

/** `chain-agent dashboards`: the dashboards with the links of an installation. */
export const dashboardsCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  new Command('dashboards')
    .argument('[name]', 'the dashboard to print; default: list their names, or print all ConfigMaps')
    .option('-o, --output <directory>', 'write all dashboards into this directory')
    .addOption(
      new Option('--format <format>', 'dashboards, or ConfigMaps for the sidecar of Grafana in Kubernetes')
        .choices(['json', 'configmap'])
        .default('json'),
    )
    .option('--runbooks <url>', 'where you publish docs/runbooks; {alert} stands for the name', readPageUrl)
    .addHelpText(
      'after',
      `
The limits in the dashboards are the default limits of the alerts: limits that
you set for the rules do not change them.

Examples:
  chain-agent dashboards --output /var/lib/grafana/dashboards/chain-agent --runbooks https://wiki.example/runbooks
  chain-agent dashboards node | jq .uid
  chain-agent dashboards --format configmap --runbooks https://wiki.example/runbooks | kubectl apply --server-side -f -`,
    )
    .action(async (name: string | undefined, options: DashboardsOptions) => {
      const { writeDashboards } = await import('./action.ts')
      await writeDashboards({ io, exit, options: { ...options, ...(name !== undefined && { name }) } })
    })
