import { configOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { readDuration } from '../../terminal/option-values.ts'
import { hour, second } from '../../core/units.ts'

/** `chain-agent restart-window`: whether consensus and execution can be restarted together now. */
export const restartWindowCommand = defineCommand({
  options: (command) =>
    configOptions(command)
      .option(
        '--for <duration>',
        'time between stop and start: 30s, 3m (default: 2m)',
        readDuration({ min: second, max: 6 * hour, example: '2m' }),
      )
      .option('--json', 'as JSON'),
  help: `A restart is safe when consensus and execution run, the node keeps up, a
majority of the references agrees on the height, few rounds time out, no finding
shows that a start may fail, the epoch does not end, the node leads no round,
and the node can catch up afterwards: the blocks of the time away and of twice
the last start are fewer than the blocksync window has left. The window is 800
blocks by default, 4 minutes at 3.3 blocks a second; the longest safe --for is
printed. It acts on nothing. Its data comes from the running agent or, if no
agent answers, from the node itself.

What is unknown is listed. It prevents the answer 0, except for these: rounds
that the node leads, because many hosts cannot know them and a missed round
costs one reward; the time of a start, because only a restart can measure it;
and the height of the network if no references are configured.

Rounds that the node leads prevent the answer 0 only if waiting helps: a
validator with 0.5% of the stake leads a round every minute or so. If no time
without is known, their number is printed as the cost of the restart. A short
--for, the time of the restart itself, finds the gaps between them.

Exit codes: 0 safe now; 1 not safe, or unknown; 2 usage error.

Examples:
  chain-agent restart-window
  chain-agent restart-window --for 30s && sudo systemctl restart ...
  chain-agent restart-window --json | jq '.checks[] | select(.state != "ok")'`,
  load: async () => (await import('./action.ts')).showRestartWindow,
})
