import { fileOption } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import type { RunCli } from './tools.ts'

/** `chain-agent mcp`: the data of the agent for an assistant, by the Model Context Protocol. */
export const mcpCommand = (runCli: RunCli) =>
  defineCommand({
    options: fileOption,
    help: `A server of the Model Context Protocol (MCP) on standard input and output, which
an assistant starts; it opens no port, and exits when the input ends. Its five
tools only read: diagnosis, metrics, incident, runbook and duties. An answer is
redacted as a bundle is. What an assistant receives leaves this host if its
model runs elsewhere: docs/how-to/assistant.md.

Exit codes: 0 the input ended, 1 it could not be read, 2 usage error.

Examples:
  chain-agent mcp --config ./agent.yaml
  claude mcp add node1 -- ssh node1 sudo -u chain-agent chain-agent mcp`,
    load: async () => (await import('./action.ts')).serveMcp(runCli),
  })
