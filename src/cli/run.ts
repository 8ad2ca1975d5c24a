import { Command } from 'commander'
import { startAgent } from '../agent.ts'
import { readConfig } from '../config/index.ts'
import { configOptions, type ConfigOptions, flagsOf } from './config-options.ts'
import type { ExitCode, Io } from './io.ts'
import { createLog } from './log.ts'

/** `chain-agent run`: watch the node until stopped. */
export const runCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  configOptions(new Command('run'))
    .description('watch the node and serve /metrics until stopped')
    .addHelpText(
      'after',
      `
Examples:
  chain-agent run
  chain-agent run --config /etc/chain-agent/config.yaml
  chain-agent run --listen 127.0.0.1:9900 --set ledger.enabled=false`,
    )
    .action(async (options: ConfigOptions) => {
      const { config } = readConfig(options.config, { env: io.env, flags: flagsOf(options) })
      const log = createLog(config, io)
      const agent = await startAgent({
        config,
        clock: io.clock,
        log,
        path: io.env['PATH'] ?? '/usr/bin:/bin',
      })
      const { host, port } = agent.address
      log.info(`Serving http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`)
      if (!io.signal.aborted) {
        await new Promise((resolve) => {
          io.signal.addEventListener('abort', resolve, { once: true })
        })
      }
      log.info('Stopping')
      await agent.stop()
      exit(0)
    })
