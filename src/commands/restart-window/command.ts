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
  help: `A planned restart is safe when consensus and execution run, the node keeps
up, a majority of the references agrees on the height, few rounds time out, no
finding shows that a start may fail, the epoch does not end, and the node can
catch up afterwards: the blocks of the time away and of twice the last start are
fewer than the blocksync window has left. The window is 800 blocks by default, 4
minutes at 3.3 blocks a second; the longest safe --for is printed. It acts on
nothing. Its data comes from the running agent or, if no agent answers, from the
node itself.

During a fault, when a recovery is needed or the state is CRITICAL or UNKNOWN,
the first lines are those of \`check\`: \`chain-agent recover\` has the steps.

What is unknown is listed. It prevents the answer 0, except for the time of a
start, because only a restart can measure it, and the height of the network if
no references are configured.

Rounds that the node leads in that time are the cost of the restart, not a
condition: a missed round costs one reward. Their number is printed and, if the
leader schedule shows a start with fewer, that time, and until when the schedule
is known. Without a schedule the number follows from the share of the stake.

Exit codes: 0 safe now; 1 not safe, or unknown, or a fault; 2 usage error.

Examples:
  chain-agent restart-window
  chain-agent restart-window --for 30s && sudo systemctl restart ...
  chain-agent restart-window --json | jq '.checks[] | select(.state != "ok")'`,
  load: async () => (await import('./action.ts')).showRestartWindow,
})
