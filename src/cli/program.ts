import { Command, CommanderError } from 'commander'
import { asError, ConfigError, errorText } from '../core/errors.ts'
import { versionText } from '../core/package.ts'
import type { CreateCommand } from '../terminal/define-command.ts'
import { type ExitCode, guardOutput, InterruptedError, type Io, UsageError } from '../terminal/io.ts'
import { inColumns } from '../terminal/style.ts'
import { applyHelpFormat } from './help/help.ts'

/** A command is loaded when it is used: loading all modules takes a second of CPU time. */
const LOADERS = {
  check: async () => (await import('../commands/check/command.ts')).checkCommand,
  status: async () => (await import('../commands/status/command.ts')).statusCommand,
  monlog: async () => (await import('../commands/monlog/command.ts')).monlogCommand,
  recover: async () => (await import('../commands/recover/command.ts')).recoverCommand,
  runbook: async () => (await import('../commands/runbook/command.ts')).runbookCommand,
  events: async () => (await import('../commands/events/command.ts')).eventsCommand,
  incident: async () => (await import('../commands/incident/command.ts')).incidentCommand,
  logs: async () => (await import('../commands/logs/command.ts')).logsCommand,
  ledger: async () => (await import('../commands/ledger/command.ts')).ledgerCommand,
  duties: async () => (await import('../commands/duties/command.ts')).dutiesCommand,
  report: async () => (await import('../commands/report/command.ts')).reportCommand,
  maintenance: async () => (await import('../commands/maintenance/command.ts')).maintenanceCommand,
  'restart-window': async () => (await import('../commands/restart-window/command.ts')).restartWindowCommand,
  standby: async () => (await import('../commands/standby/command.ts')).standbyCommand,
  keys: async () => (await import('../commands/keys/command.ts')).keysCommand,
  bundle: async () => (await import('../commands/bundle/command.ts')).bundleCommand,
  init: async () => (await import('../commands/init/command.ts')).initCommand,
  run: async () => (await import('../commands/run/command.ts')).runCommand,
  config: async () => (await import('../commands/config/command.ts')).configCommand,
  rules: async () => (await import('../commands/rules/command.ts')).rulesCommand,
  alert: async () => (await import('../commands/alert/command.ts')).alertCommand,
  query: async () => (await import('../../query/commands/query/command.ts')).queryCommand,
  balances: async () => (await import('../../query/commands/balances/command.ts')).balancesCommand,
  'serve-query': async () => {
    const { serveQueryCommand } = await import('../../query/commands/serve-query/command.ts')
    return serveQueryCommand(async () => import('../config/load.ts'))
  },
  demo: async () => (await import('../../simulator/commands/demo/command.ts')).demoCommand,
  dashboards: async () => (await import('../commands/dashboards/command.ts')).dashboardsCommand,
  replay: async () => (await import('../commands/replay/command.ts')).replayCommand,
  mcp: async () => (await import('../commands/mcp/command.ts')).mcpCommand(runCli),
  'start-guard': async () => (await import('../commands/start-guard/command.ts')).startGuardCommand,
  'keys-report': async () => (await import('../commands/keys-report/command.ts')).keysReportCommand,
  simulate: async () => (await import('../../simulator/commands/simulate/command.ts')).simulateCommand,
  parse: async () => (await import('../commands/parse/command.ts')).parseCommand,
  help: async () => (await import('./help/commands.ts')).helpCommand,
  completion: async () => (await import('./help/commands.ts')).completionCommand,
  man: async () => (await import('./help/commands.ts')).manCommand,
} satisfies Readonly<Record<string, () => Promise<CreateCommand>>>

interface Group {
  /** Heading of the help; empty for commands that it lists by name only. */
  readonly heading: string
  /** Name and summary; the arguments as in the usage, where the help lists them. */
  readonly rows: readonly (readonly [name: keyof typeof LOADERS, summary: string, args?: string])[]
}

/** The commands by the question that they answer, the most urgent first. */
const GROUPS: readonly Group[] = [
  {
    heading: 'Diagnose: what is wrong, and what to do?',
    rows: [
      ['check', 'check the node and the host: state, causes, what to do'],
      ['status', 'status of the node: from the running agent, or read from the node once', '[section]'],
      ['monlog', 'analyse the last 60 seconds of the consensus log: health verdict, findings, what to do'],
      ['recover', 'show which documented recovery procedure the node needs now, and why'],
      ['runbook', 'print the runbook of an alert: meaning, diagnosis, what to do', '[alert]'],
    ],
  },
  {
    heading: 'Look back: what happened?',
    rows: [
      ['events', 'print the timeline of state changes that the agent has recorded'],
      ['incident', 'print what the agent kept when a critical alert fired: journals, diagnosis, readings', '[id]'],
      ['logs', "print a service's log, with secrets redacted", '<service>'],
      ['ledger', 'print the ledger, one line per block, with skipped rounds marked'],
      ['duties', 'print own rounds by epoch, missed rounds and what happened then, rewards'],
      ['report', 'print availability, misses, restarts, incidents, disk, versions, rewards of a week'],
    ],
  },
  {
    heading: 'Operate: what can be done now?',
    rows: [
      ['maintenance', 'set a maintenance window, in which alerts about the node do not page'],
      ['restart-window', 'check whether the node can be restarted now: epoch, own rounds, sync, network'],
      ['standby', 'check whether the second host of a validator could take over now'],
      ['keys', "back up, check, restore and export the node's keys"],
      ['bundle', 'write an archive for support, with secrets redacted'],
    ],
  },
  {
    heading: 'Set up: what runs here, and with which settings?',
    rows: [
      ['init', 'write a configuration with what is found on this host'],
      ['run', 'monitor the node and serve /metrics until stopped'],
      ['config', 'print the effective configuration and where each value comes from'],
      ['rules', 'write the alert rules of this installation, for Prometheus or Kubernetes'],
      ['alert', 'test whether an alert reaches its receivers'],
    ],
  },
  {
    heading: 'Query: which events do contracts have?',
    rows: [
      ['query', 'fetch event logs from a query service, one row per log'],
      ['balances', 'compute the holders of a token from its events'],
      ['serve-query', "index the node's event logs and answer queries until stopped"],
    ],
  },
  {
    // Other programs call them, or they are needed once.
    heading: '',
    rows: [
      ['demo', 'start a simulated node and an agent that monitors it'],
      ['dashboards', 'write the Grafana dashboards with your links to runbooks, for files or Kubernetes'],
      ['replay', "show which alerts would have fired, from the node's journal or a recording"],
      ['mcp', 'serve diagnosis, metrics, incidents, runbooks and duties to an assistant, read-only'],
      ['start-guard', 'refuse the start of consensus while another host signs with its key'],
      ['keys-report', "print the status of the node's key files and their backups as JSON"],
      ['simulate', 'run a simulated node: RPC, tools, services and journal'],
      ['parse', 'parse a file or standard input with a parser of the agent, and print JSON'],
      ['help', 'show the usage of a command'],
      ['completion', 'print a completion script for the shell'],
      ['man', 'print the manual page'],
    ],
  },
]

const NAMES = GROUPS.flatMap(({ rows }) => rows.map(([name]) => name))

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
    for (const [name, summary, args] of rows) {
      const command = names.includes(name) ? (await LOADERS[name]())(name, io, exit) : listed(name, args)
      program.addCommand(command.description(summary).helpGroup(heading))
    }
  }
  applyHelpFormat(program, io)
  return program
}

/** A command that is not loaded, as the help lists it. */
const listed = (name: string, args: string | undefined): Command => {
  const command = new Command(name)
  return args === undefined ? command : command.arguments(args)
}

const FURTHER = GROUPS.flatMap(({ heading, rows }) => (heading === '' ? rows.map(([name]) => name) : []))

const NOTES = `
${inColumns(80)
  .wrap(`Further commands (chain-agent help COMMAND): ${FURTHER.join(', ')}.`)
  .join('\n')}

Exit codes: check and monlog exit with 0 if the node is healthy, 1 if something
needs attention, and 2 if the node does not work or its status is unknown. The
other commands exit with 0 on success, 1 on failure, and 2 on a usage error; the
help of a command lists its exceptions.

Examples:
  chain-agent check                        # state, causes, what to do
  chain-agent status --watch               # overview of the node, refreshed
  chain-agent monlog                       # the last minute of consensus, and what to do
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
  const isInterruption = error instanceof InterruptedError
  io.stderr.write(`${isInterruption ? error.message : errorText(error)}\n`)
  return isInterruption ? error.exitCode : 1
}
