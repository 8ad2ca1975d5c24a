import { defineConfigured } from '../../terminal/configured-command.ts'
import { readDuration } from '../../terminal/option-values.ts'
import { hour, second } from '../../core/units.ts'

/** `chain-agent restart-window`: whether consensus and execution can be restarted together now. */
export const restartWindowCommand = defineConfigured({
  needsNode: true,
  json: 'as JSON',
  options: (command) =>
    command.option(
      '--for <duration>',
      'time between stop and start: 30s, 3m (default: 2m)',
      readDuration({ min: second, max: 6 * hour, example: '2m' }),
    ),
  help: `Whether a planned restart is safe: docs/how-to/maintenance.md has the
conditions. What is unknown is listed. The longest safe --for is printed, and
the rounds that the node leads in that time: the cost of the restart, not a
condition. It acts on nothing. During a fault the first lines are those of
\`check\`: \`chain-agent recover\` has the steps.

Exit codes: 0 safe now; 1 not safe, or unknown, or a fault; 2 usage error.

Examples:
  chain-agent restart-window
  chain-agent restart-window --for 30s && sudo systemctl restart ...
  chain-agent restart-window --json | jq '.checks[] | select(.state != "ok")'`,
  load: async () => (await import('./action.ts')).showRestartWindow,
})
