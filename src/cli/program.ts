import { Command, CommanderError } from 'commander'
import { asError, ConfigError, errorText } from '../core/errors.ts'
import { versionText } from '../core/package.ts'
import type { CreateCommand } from '../terminal/define-command.ts'
import { type ExitCode, guardOutput, type Io, UsageError } from '../terminal/io.ts'
import { wrap } from '../terminal/style.ts'
import { applyHelpFormat } from './help/help.ts'

interface Row {
  readonly name: string
  /** As in its usage, where the help lists it. */
  readonly args?: string
  readonly summary: string
  /** A command is loaded when it is used: loading all modules takes a second of CPU time. */
  readonly load: () => Promise<CreateCommand>
}

interface Group {
  /** Heading of the help; empty for commands that it lists by name only. */
  readonly heading: string
  readonly rows: readonly Row[]
}

/** The commands by the question that they answer, the most urgent first. */
const GROUPS: readonly Group[] = [
  {
    heading: 'Diagnose: what is wrong, and what to do?',
    rows: [
      {
        name: 'check',
        summary: 'check the node and the host: state, causes, what to do',
        load: async () => (await import('../commands/check/command.ts')).checkCommand,
      },
      {
        name: 'status',
        args: '[section]',
        summary: 'status of the node: from the running agent, or read from the node once',
        load: async () => (await import('../commands/status/command.ts')).statusCommand,
      },
      {
        name: 'monlog',
        summary: 'analyse the last 60 seconds of the consensus log: health verdict, findings, what to do',
        load: async () => (await import('../commands/monlog/command.ts')).monlogCommand,
      },
      {
        name: 'recover',
        summary: 'show which documented recovery procedure the node needs now, and why',
        load: async () => (await import('../commands/recover/command.ts')).recoverCommand,
      },
      {
        name: 'runbook',
        args: '[alert]',
        summary: 'print the runbook of an alert: meaning, diagnosis, what to do',
        load: async () => (await import('../commands/runbook/command.ts')).runbookCommand,
      },
    ],
  },
  {
    heading: 'Look back: what happened?',
    rows: [
      {
        name: 'events',
        summary: 'print the timeline of state changes that the agent has recorded',
        load: async () => (await import('../commands/events/command.ts')).eventsCommand,
      },
      {
        name: 'incident',
        args: '[id]',
        summary: 'print what the agent kept when a critical alert fired: journals, diagnosis, readings',
        load: async () => (await import('../commands/incident/command.ts')).incidentCommand,
      },
      {
        name: 'logs',
        args: '<service>',
        summary: "print a service's log, with secrets redacted",
        load: async () => (await import('../commands/logs/command.ts')).logsCommand,
      },
      {
        name: 'ledger',
        summary: 'print the ledger, one line per block, with skipped rounds marked',
        load: async () => (await import('../commands/ledger/command.ts')).ledgerCommand,
      },
      {
        name: 'duties',
        summary: 'print own rounds by epoch, missed rounds and what happened then, rewards',
        load: async () => (await import('../commands/duties/command.ts')).dutiesCommand,
      },
      {
        name: 'report',
        summary: 'print availability, misses, restarts, incidents, disk, versions, rewards of a week',
        load: async () => (await import('../commands/report/command.ts')).reportCommand,
      },
    ],
  },
  {
    heading: 'Operate: what can be done now?',
    rows: [
      {
        name: 'maintenance',
        summary: 'set a maintenance window, in which alerts about the node do not page',
        load: async () => (await import('../commands/maintenance/command.ts')).maintenanceCommand,
      },
      {
        name: 'restart-window',
        summary: 'check whether the node can be restarted now: epoch, own rounds, sync, network',
        load: async () => (await import('../commands/restart-window/command.ts')).restartWindowCommand,
      },
      {
        name: 'standby',
        summary: 'check whether the second host of a validator could take over now',
        load: async () => (await import('../commands/standby/command.ts')).standbyCommand,
      },
      {
        name: 'keys',
        summary: "back up, check, restore and export the node's keys",
        load: async () => (await import('../commands/keys/command.ts')).keysCommand,
      },
      {
        name: 'bundle',
        summary: 'write an archive for support, with secrets redacted',
        load: async () => (await import('../commands/bundle/command.ts')).bundleCommand,
      },
    ],
  },
  {
    heading: 'Set up: what runs here, and with which settings?',
    rows: [
      {
        name: 'init',
        summary: 'write a configuration with what is found on this host',
        load: async () => (await import('../commands/init/command.ts')).initCommand,
      },
      {
        name: 'run',
        summary: 'monitor the node and serve /metrics until stopped',
        load: async () => (await import('../commands/run/command.ts')).runCommand,
      },
      {
        name: 'config',
        summary: 'print the effective configuration and where each value comes from',
        load: async () => (await import('../commands/config/command.ts')).configCommand,
      },
      {
        name: 'rules',
        summary: 'write the alert rules of this installation, for Prometheus or Kubernetes',
        load: async () => (await import('../commands/rules/command.ts')).rulesCommand,
      },
      {
        name: 'alert',
        summary: 'test whether an alert reaches its receivers',
        load: async () => (await import('../commands/alert/command.ts')).alertCommand,
      },
    ],
  },
  {
    heading: 'Query: which events do contracts have?',
    rows: [
      {
        name: 'query',
        summary: 'fetch event logs from a query service, one row per log',
        load: async () => (await import('../../query/commands/query/command.ts')).queryCommand,
      },
      {
        name: 'balances',
        summary: 'compute the holders of a token from its events',
        load: async () => (await import('../../query/commands/balances/command.ts')).balancesCommand,
      },
      {
        name: 'serve-query',
        summary: "index the node's event logs and answer queries until stopped",
        load: async () => {
          const { serveQueryCommand } = await import('../../query/commands/serve-query/command.ts')
          return serveQueryCommand(async () => import('../config/load.ts'))
        },
      },
    ],
  },
  {
    // Other programs call them, or they are needed once.
    heading: '',
    rows: [
      {
        name: 'demo',
        summary: 'start a simulated node and an agent that monitors it',
        load: async () => (await import('../../simulator/commands/demo/command.ts')).demoCommand,
      },
      {
        name: 'dashboards',
        summary: 'write the Grafana dashboards with your links to runbooks, for files or Kubernetes',
        load: async () => (await import('../commands/dashboards/command.ts')).dashboardsCommand,
      },
      {
        name: 'replay',
        summary: "show which alerts would have fired, from the node's journal or a recording",
        load: async () => (await import('../commands/replay/command.ts')).replayCommand,
      },
      {
        name: 'mcp',
        summary: 'serve diagnosis, metrics, incidents, runbooks and duties to an assistant, read-only',
        load: async () => (await import('../commands/mcp/command.ts')).mcpCommand(runCli),
      },
      {
        name: 'start-guard',
        summary: 'refuse the start of consensus while another host signs with its key',
        load: async () => (await import('../commands/start-guard/command.ts')).startGuardCommand,
      },
      {
        name: 'keys-report',
        summary: "print the status of the node's key files and their backups as JSON",
        load: async () => (await import('../commands/keys-report/command.ts')).keysReportCommand,
      },
      {
        name: 'simulate',
        summary: 'run a simulated node: RPC, tools, services and journal',
        load: async () => (await import('../../simulator/commands/simulate/command.ts')).simulateCommand,
      },
      {
        name: 'parse',
        summary: 'parse a file or standard input with a parser of the agent, and print JSON',
        load: async () => (await import('../commands/parse/command.ts')).parseCommand,
      },
      {
        name: 'help',
        summary: 'show the usage of a command',
        load: async () => (await import('./help/commands.ts')).helpCommand,
      },
      {
        name: 'completion',
        summary: 'print a completion script for the shell',
        load: async () => (await import('./help/commands.ts')).completionCommand,
      },
      {
        name: 'man',
        summary: 'print the manual page',
        load: async () => (await import('./help/commands.ts')).manCommand,
      },
    ],
  },
]

const NAMES = GROUPS.flatMap(({ rows }) => rows.map(({ name }) => name))

/** The commands to load for a command line. The others are listed in the help by name and summary. */
const toLoad = (argv: readonly string[]): readonly string[] => (argv[0] === 'man' ? NAMES : argv)

/** Runs one command line; never throws. `argv` without the interpreter and the script. */
export const runCli = async (argv: readonly string[], terminal: Io): Promise<ExitCode> => {
  const io = guardOutput(terminal)
  let code: ExitCode = 0
  const exit = (given: ExitCode): void => {
    code = given
  }
  try {
    const program = await loadProgram(io, exit, toLoad(argv))
    await program.parseAsync([...argv], { from: 'user' })
    return code
  } catch (thrown) {
    return printError(asError(thrown), io)
  }
}

/** The program, with the named commands loaded: help and manual are rendered from it. */
export const loadProgram = async (
  io: Io,
  exit: (code: ExitCode) => void,
  names: readonly string[] = NAMES,
): Promise<Command> => {
  const program = new Command('chain-agent')
    .description(
      'Monitoring agent for blockchain nodes: runs on the host of the node and exports Prometheus metrics, with an operator CLI.',
    )
    .version(versionText, '-V, --version', 'print version and commit')
    .helpCommand(false)
    .addHelpText('after', NOTES)
  for (const { heading, rows } of GROUPS) {
    for (const row of rows) {
      const command = names.includes(row.name) ? (await row.load())(row.name, io, exit) : listed(row)
      program.addCommand(command.description(row.summary).helpGroup(heading))
    }
  }
  applyHelpFormat(program, io)
  return program
}

/** A command that is not loaded, as the help lists it. */
const listed = ({ name, args }: Row): Command => {
  const command = new Command(name)
  return args === undefined ? command : command.arguments(args)
}

const FURTHER = GROUPS.flatMap(({ heading, rows }) => (heading === '' ? rows.map(({ name }) => name) : []))

const NOTES = `
${wrap(`Further commands (chain-agent help COMMAND): ${FURTHER.join(', ')}.`, { plain: String, width: 80 }).join('\n')}

Exit codes: check and monlog exit with 0 if the node is healthy, 1 if something
needs attention, and 2 if the node does not work or its status is unknown. The
other commands exit with 0 on success, 1 on failure, and 2 on a usage error; the
help of a command lists its exceptions.

Examples:
  chain-agent check                        # state, causes, what to do
  chain-agent status --watch               # overview of the node, refreshed
  chain-agent monlog --watch               # the last minute of consensus, refreshed
  chain-agent logs bft -f                  # log of consensus, secrets redacted
  sudo chain-agent maintenance start 30m --reason upgrade
  chain-agent help status                  # usage of a command
  chain-agent demo                         # a simulated node and its agent`

const printError = (error: Error, io: Io): ExitCode => {
  // Commander has already printed the error. It also throws for --help and --version, with exit code 0.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof UsageError) {
    io.stderr.write(`error: ${error.message}\n`)
    return 2
  }
  if (error instanceof ConfigError) {
    io.stderr.write(`The configuration cannot be used; nothing was started.\n${error.message}\n`)
    return 2
  }
  io.stderr.write(`${errorText(error)}\n`)
  return 1
}
