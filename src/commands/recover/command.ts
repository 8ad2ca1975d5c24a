import { defineConfigured } from '../../terminal/configured-command.ts'

/** `chain-agent recover`: the recovery procedure that the node needs now. It advises and never acts. */
export const recoverCommand = defineConfigured({
  json: 'as JSON',
  help: `It advises and never acts: you decide whether to run the commands it shows. Its
data comes from the running agent or, if no agent answers, from the node itself.

Exit codes: 0 nothing to do, or only wait; 1 something to do, or the recovery is
unknown; 2 usage error.

Examples:
  chain-agent recover
  chain-agent recover --json | jq -r .path`,
  load: async () => (await import('./action.ts')).recover,
})
