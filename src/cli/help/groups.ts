import type { Command } from 'commander'

/** The commands in the order in which an operator comes to need them. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'Now: what is wrong, and what to do': ['check', 'status', 'monlog', 'recover', 'runbook'],
  'Look: what was, and what is written': ['ledger', 'logs', 'events', 'replay'],
  'Query: what contracts have logged, from a query service': [
    'balances',
    'query',
    'height',
    'serve-query',
  ],
  'Keep: what an operator sees to': ['maintenance', 'bundle', 'keys', 'keys-report'],
  'Run: the agent itself': ['run', 'config'],
  'Rehearse: without a node': ['demo', 'simulate', 'parse'],
  'Help:': ['help', 'completion', 'man'],
}

const ORDER = Object.values(GROUPS).flat()

const rank = (command: Command): number => {
  const at = ORDER.indexOf(command.name())
  return at < 0 ? ORDER.length : at
}

export const inOrder = (commands: readonly Command[]): readonly Command[] =>
  commands
    .toSorted((a, b) => rank(a) - rank(b))
    .map((command) => command.helpGroup(headingOf(command.name())))

const headingOf = (name: string): string => {
  const [heading = 'More:'] = Object.entries(GROUPS).find(([, names]) => names.includes(name)) ?? []
  return heading.endsWith(':') ? heading : `${heading}:`
}
