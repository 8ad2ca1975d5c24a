import { defineConfigured } from '../../terminal/configured-command.ts'

/** `chain-agent start-guard`: whether the identity of this host signs on another host. */
export const startGuardCommand = defineConfigured({
  needsNode: true,
  options: (command) => command.option('--override', 'allow the next start without a check; once, until the next boot'),
  help: `For ExecStartPre= of consensus: docs/how-to/start-guard.md has the drop-in. It
refuses the start if an RPC of the references has a finalized block of this
validator that is newer than the last run of consensus on this host, or if an
agent in startGuard.agents reports that its node signs with this key.

What is unknown is named and allows the start: no key, no reference, no answer,
references that contradict each other. The answer comes within five seconds.

Exit codes: 0 the start is allowed, 1 refused, 2 usage error.

Examples:
  sudo chain-agent start-guard
  sudo chain-agent start-guard --override && sudo systemctl start ...`,
  load: async () => (await import('./action.ts')).guardStart,
})
