import { defineConfigured } from '../../terminal/configured-command.ts'
import { readTime } from '../../terminal/option-values.ts'

/** `chain-agent duties`: own rounds by epoch, missed rounds, rewards. */
export const dutiesCommand = defineConfigured({
  needsNode: true,
  json: 'as JSON',
  options: (command, { clock }) =>
    command
      .option('-S, --since <moment>', 'start: 7d, 2026-03-01 (default: 1d)', readTime(clock))
      .option('--file <file>', 'lines of the stream or of `journalctl -o json`; - for standard input')
      .option('--names', 'names instead of keys, from names.file in the configuration'),
  help: `By epoch: own rounds, those with a block, missed ones, and rewards. For each
missed round: time, epoch, round, class, the leader of the round before, and
what the agent recorded within a minute before and five minutes after it.

The class is why the round was missed, with the figures that show it: own
outage, execution, clock, peers, UDP, network, disk, late parent, votes, or
unknown. The running agent decides it half a minute after the round and saves
the newest 1000, which this command reads from state.directory.

Rounds are those of the ledger stream in the journal. The first lines show which
part of the time it covers; rounds outside of it are not counted as missed. The
stream does not report every timeout. The leader of a round without any line is
computed from the node's file of validator sets, which has the sets of one or
two epochs, if it agrees with every block of the epoch; otherwise the number of
own rounds of that epoch is unknown. Rewards are those that the running agent
has measured (collector staking), without priority fees.

A day of the stream is about half a million lines: a week takes minutes of one
core.

Exit codes: 0 the rounds were printed; 1 there are none, or the journal could
not be read; 2 usage error.

Examples:
  chain-agent duties --since 7d
  chain-agent duties --since 6h --names
  chain-agent duties --json | jq '.missed[] | [.at, .round, .cause.class] | @tsv'`,
  load: async () => (await import('./action.ts')).showDuties,
})
