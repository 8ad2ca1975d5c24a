import { defineConfigured } from '../../terminal/configured-command.ts'

/** `chain-agent incident [ID]`: what the agent kept when a critical alert fired. */
export const incidentCommand = defineConfigured({
  json: 'as JSON, with the readings of all collectors',
  options: (command) => command.argument('[id]', 'the incident, as in the list, or `latest`; default: list all'),
  help: `When a critical alert fires, the agent keeps what explains it: the journals of
the node's services from 60 seconds before the alert, and before its condition
became true, to 30 seconds after, with secrets redacted; the diagnosis, the
readings and the last output of each tool at that time. Alerts that fire within
ten minutes are one incident. Of each journal and range of time at most 5,000
lines or 512 KiB are kept, those next to the alert, and 6 MiB of all together.

The newest 20 incidents are kept, in at most 64 MiB, in the directory incidents
of state.directory, which root and the group of the agent may read. They are not
served over HTTP. \`chain-agent bundle\` contains the newest ones.

Exit codes: 0 they were listed, also if there are none, or the incident was
printed; 1 it could not be read; 2 no incident has the id, or usage error.

Examples:
  chain-agent incident
  chain-agent incident latest | less
  chain-agent incident 20260301-125930
  chain-agent incident latest --json | jq '.readings.services'`,
  load: async () => (await import('./action.ts')).showIncident,
})
