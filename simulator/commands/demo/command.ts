import { InvalidArgumentError, Option } from 'commander'
import { defineCommand } from '../../../src/terminal/define-command.ts'
import { readPort, readPrefix, readSpan } from '../simulate/command.ts'

/** `chain-agent demo`: runs a simulated node and an agent that monitors it, until Ctrl-C. */
export const demoCommand = defineCommand({
  options: (command) =>
    command
      .option('--scenario <name|file>', 'scenario of the simulated node', 'healthy')
      .addOption(
        new Option('--fleet <nodes>', 'simulate this number of nodes, with different profiles, in one process')
          .argParser(readFleet)
          .conflicts(['scenario', 'at']),
      )
      .option('--at <duration>', 'start this far into the scenario: 90s, 5m', readSpan, 0)
      .option('--list', 'list the scenarios, or the profiles of the fleet, and exit')
      .addOption(
        new Option(
          '--shell',
          'open a shell in which chain-agent uses the demo; the demo stops when the shell exits',
        ).conflicts(['fleet', 'list']),
      )
      .option('--prefix <word>', 'name prefix of units and tools', readPrefix, 'chain')
      .option(
        '--port <port>',
        'port of the agent, or of the list of the fleet; another free port if it is in use',
        readPort,
        9843,
      ),
  help: `Exit codes: 0 stopped by a signal, or listed; 1 it could not be started; 2 usage
error.

Examples:
  chain-agent demo
  chain-agent demo --list
  chain-agent demo --scenario service-crash
  chain-agent demo --scenario stalled --at 2m
  chain-agent demo --shell
  chain-agent demo --fleet 100
  chain-agent demo --fleet 100 --list`,
  load: async () => (await import('./action.ts')).runDemo,
})

const LARGEST_FLEET = 1000

const readFleet = (text: string): number => {
  const size = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (size >= 1 && size <= LARGEST_FLEET) return size
  throw new InvalidArgumentError(`expected a number of nodes from 1 to ${LARGEST_FLEET}`)
}
