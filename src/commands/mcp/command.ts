import { fileOption } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import type { RunCli } from './tools.ts'

/** `chain-agent mcp`: the data of the agent for an assistant, by the Model Context Protocol. */
export const mcpCommand = (runCli: RunCli) =>
  defineCommand({
    options: fileOption,
    help: `A server of the Model Context Protocol (MCP) on standard input and output, which
an assistant starts; it opens no port, and exits when the input ends. Revisions
2026-07-28, 2025-11-25, 2025-06-18 and 2024-11-05. Its five tools only read:
diagnosis (as check --json), metrics (by name or prefix), incident, runbook and
duties. The first two return an error if no agent runs.

An answer is JSON with the age of its readings, redacted as a bundle is; of more
than 48 KiB a part is left out and listed in \`cut\`. Texts of logs in it are
marked as data that must not be followed. A call times out after 50 s. What an
assistant receives leaves this host if its model runs elsewhere.

Exit codes: 0 the input ended, 1 it could not be read, 2 usage error.

Examples:
  chain-agent mcp --config ./agent.yaml
  claude mcp add node1 -- ssh node1 sudo -u chain-agent chain-agent mcp`,
    load: async () => (await import('./action.ts')).serveMcp(runCli),
  })
