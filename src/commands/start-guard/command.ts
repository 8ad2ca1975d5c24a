import { defineConfigured } from '../../terminal/configured-command.ts'

/** `chain-agent start-guard`: whether the identity of this host signs on another host. */
export const startGuardCommand = defineConfigured({
  needsNode: true,
  options: (command) => command.option('--override', 'allow the next start without a check; once, until the next boot'),
  help: `For ExecStartPre= of consensus: docs/how-to/start-guard.md has the drop-in, and
what refuses a start. What is unknown is named and allows the start. The answer
comes within five seconds.

Exit codes: 0 the start is allowed, 1 refused, 2 usage error.

Examples:
  sudo chain-agent start-guard
  sudo chain-agent start-guard --override && sudo systemctl start ...`,
  load: async () => (await import('./action.ts')).guardStart,
})
