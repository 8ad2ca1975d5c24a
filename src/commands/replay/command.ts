import { defineConfigured } from '../../terminal/configured-command.ts'
import { readTime } from '../../terminal/option-values.ts'

/** `chain-agent replay`: which alerts would have fired, and when. */
export const replayCommand = defineConfigured({
  needsNode: true,
  json: 'as JSON',
  options: (command, { clock }) =>
    command
      .option('-S, --since <moment>', 'start: 7d, 2026-03-01 (default: 1d)', readTime(clock))
      .option('-U, --until <moment>', 'end (default: now)', readTime(clock))
      .option('--file <file>', 'read a recording instead of the journal of this host; - for standard input')
      .option('--services <names>', 'only these services: bft,execution,ledger-tail,rpc'),
  help: `Runs the collectors of the agent on past journal entries. Every 15 seconds of
that time it evaluates the alert rules of the agent that need only the journal.
Entries are evaluated in the order in which they were written; a step of the
host's clock is a line of its own.
Alerts that begin within five minutes of each other are one
incident. A recording is the output of \`journalctl --all -o json\`:

  journalctl --all -o json --since -1d -u chain-bft -u chain-execution -u chain-rpc -u chain-ledger-tail

Exit codes: 0 no incident; 1 incidents, or the entries could not be read; 2
usage error.

Examples:
  chain-agent replay --since 7d
  chain-agent replay --since "2026-03-01 02:00" --until "2026-03-01 04:00" --services bft,ledger-tail
  chain-agent replay --file night.jsonl --json | jq '.incidents[0]'
  ssh node journalctl --all -o json --since -1h | chain-agent replay --file -`,
  load: async () => (await import('./action.ts')).replayJournal,
})
