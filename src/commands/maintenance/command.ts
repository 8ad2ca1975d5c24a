import { Option } from 'commander'
import { MAINTENANCE_REASONS } from '../../domain/maintenance.ts'
import { day, minute } from '../../core/units.ts'
import { defineConfigured } from '../../terminal/configured-command.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { readDuration } from '../../terminal/option-values.ts'

/** `chain-agent maintenance`: suppresses alerts about the node while its operator works on it. */
export const maintenanceCommand = defineCommand({
  help: `The running agent reads the window within seconds and exports
chain_agent_maintenance{reason}, which the alert rules use. \`start\` and \`end\`
wait until the agent reports the change. The window ends by itself and survives
a restart of the agent. Alerts about keys and exposed ports still fire.

Exit codes: 0 the agent reports the change, or \`show\` found a window; 1 it does
not, with the reason, or \`show\` found none; 2 usage error.

Examples:
  sudo chain-agent maintenance start 30m --reason upgrade
  chain-agent maintenance show
  sudo chain-agent maintenance end`,
  subcommands: () => ({ start: startCommand, end: endCommand, show: showCommand }),
})

const startCommand = defineConfigured({
  summary: 'start a window now; it ends by itself',
  options: (command) =>
    command
      .argument('<duration>', 'maximum length: 30m, 2h', readDuration({ min: minute, max: 7 * day, example: '30m' }))
      .addOption(new Option('--reason <reason>', 'why').choices(MAINTENANCE_REASONS).default('other'))
      .option('--note <text>', 'free text; shown by `show` and in the API, in no metric'),
  load: async () => (await import('./action.ts')).startMaintenance,
})

const endCommand = defineConfigured({
  summary: 'end the window now',
  load: async () => (await import('./action.ts')).endMaintenance,
})

const showCommand = defineConfigured({
  summary: 'print the current window',
  json: 'as JSON',
  load: async () => (await import('./action.ts')).showMaintenance,
})
