import { InvalidArgumentError } from 'commander'
import { minute, parseDuration } from '../../../src/core/units.ts'
import { defineCommand } from '../../../src/terminal/define-command.ts'

/** `chain-agent simulate`: runs a complete simulated node until it is interrupted. */
export const simulateCommand = defineCommand({
  options: (command) =>
    command
      .option('--scenario <name|file>', 'scenario of the simulated node', 'healthy')
      .option('--at <duration>', 'start this far into the scenario: 90s, 5m', readSpan, 0)
      .option('--list', 'list the scenarios and exit')
      .option('--json', 'print its URLs and paths as one line of JSON')
      .option('--prefix <word>', 'name prefix of units and tools', readPrefix, 'chain')
      .option(
        '--directory <dir>',
        'directory for bin/ and the files of the node (default: a temporary one, removed on exit)',
      ),
  help: `Exit codes: 0 stopped by a signal, or listed; 1 it could not be started; 2 usage
error.

Examples:
  chain-agent simulate --list
  chain-agent simulate --scenario stalled --at 2m
  chain-agent simulate --scenario ./my-own.scenario --directory /tmp/node`,
  load: async () => (await import('./action.ts')).runSimulator,
})

export const readSpan = (text: string): number => {
  const span = parseDuration(text)
  if (span !== undefined && span <= 24 * 60 * minute) return span
  throw new InvalidArgumentError('expected a duration of at most a day, such as 90s or 5m')
}

export const readPort = (text: string): number => {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
  throw new InvalidArgumentError('expected a port from 0 to 65535')
}

export const readPrefix = (text: string): string => {
  if (/^[a-z][a-z0-9]{0,30}$/.test(text)) return text
  throw new InvalidArgumentError('expected lowercase letters and digits, such as chain')
}
