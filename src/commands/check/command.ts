import { defineConfigured } from '../../terminal/configured-command.ts'

/** `chain-agent check`: the diagnosis of the node, the set-up of the host, and what to do. */
export const checkCommand = defineConfigured({
  json: 'as JSON: state, recovery, findings, set-up and facts',
  help: `Prints the state of the node, the recovery that it needs, and the causes with
what to do, as the running agent reports them. Then it checks the set-up of the
host. Without an agent it runs every collector once, which takes some seconds: a
single reading does not show how long a condition has lasted. It changes
nothing. Run it as the user of the agent: another user may have other
permissions.

Exit codes: 0 healthy, 1 something needs attention, including the set-up of the
host, 2 the node does not do its work, or its state is unknown. During a
maintenance window only keys, exposed ports and the set-up of the host count.

Examples:
  chain-agent check
  sudo -u chain-agent chain-agent check
  chain-agent check --json | jq '.findings[] | {severity, summary}'`,
  load: async () => (await import('./action.ts')).check,
})
