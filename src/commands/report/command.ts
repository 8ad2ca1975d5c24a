import { defineConfigured } from '../../terminal/configured-command.ts'
import { readTime } from '../../terminal/option-values.ts'

/** `chain-agent report`: availability, missed rounds, restarts, incidents, disk, versions, rewards. */
export const reportCommand = defineConfigured({
  needsNode: true,
  json: 'as JSON',
  options: (command, { clock }) =>
    command
      .option('-S, --since <moment>', 'start: 7d, 2026-03-01 (default: 7d)', readTime(clock))
      .option('--send', 'also send its rows to each of alertmanagers.urls'),
  help: `Sources:
  availability  time with a block of at most 30 s, saved by the agent by the
                hour, for 31 days; an estimate of the delegation programme's
                uptime, which may be measured in another way
  own rounds    the ledger stream in the journal, as in \`chain-agent duties\`;
                missed ones by class
  restarts      systemd's entries in the journal
  incidents     alerts of at least a warning that the agent has recorded; those
                that began to fire within five minutes are one incident
  disk          the current reading of the node
  versions      the current reading, and changes that the agent has recorded
  rewards       measured by the collector staking, without priority fees

Each line has the part of the time that its source covers. What is unknown is
printed with the reason, and null in JSON. No Prometheus is read.

With --send it is the alert ChainReport, with the labels of this node, severity
info and digest="true", for which alerts/alertmanager.yaml has a route. It ends
by itself. chain-agent-report.timer sends one each Monday, if you enable it:
docs/how-to/alerts.md.

Exit codes: 0 the report was printed, and with --send an Alertmanager accepted
it; 1 not; 2 usage error. The exit code does not depend on the contents.

Examples:
  chain-agent report
  chain-agent report --since 30d
  chain-agent report --send
  chain-agent report --json | jq .availability.uptimeRatio`,
  load: async () => (await import('./action.ts')).showReport,
})
