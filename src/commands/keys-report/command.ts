import { defineConfigured } from '../../terminal/configured-command.ts'

/** `chain-agent keys-report`: for a unit that can read files that the agent cannot. */
export const keysReportCommand = defineConfigured({
  help: `Prints states only: no paths and no contents. chain-agent-keys.service
runs this command, and the agent reads its output from keys.reportFile.

Exit codes: 0 the report was printed, 1 it could not be, 2 usage error.

Examples:
  sudo chain-agent keys-report
  sudo chain-agent keys-report --config /etc/chain-agent/config.yaml`,
  load: async () => (await import('./action.ts')).reportKeys,
})
