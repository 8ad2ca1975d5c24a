import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type Context, waitForAbort } from '../../core/clock.ts'
import { RESTART_SECTIONS } from '../../core/reload.ts'
import { hostAndPort } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { configOptions, type ConfigOptions } from '../../terminal/config-options.ts'
import { defineCommand } from '../../terminal/define-command.ts'
import { type ActionContext, searchPath } from '../../terminal/io.ts'

/** `chain-agent run`: monitor the node until stopped. */
export const runCommand = defineCommand({
  options: configOptions,
  help: `SIGHUP (systemctl reload) reloads the configuration: file, environment and
options. If it is invalid, the agent logs the error and keeps the previous one.
Only collectors whose settings changed are restarted, and no log line is lost.
The log names the changed keys that need a restart of the agent:
${RESTART_SECTIONS.join(', ')}, and all below them.

--web.config.file sets TLS and passwords, in the format of exporter-toolkit:
docs/how-to/tls.md. The agent reads the file again when it or a certificate has
changed. Commands on this host then use a socket in state.directory.

Exit codes: 0 stopped by a signal, 1 failure, 2 the configuration is invalid, or
usage error.

Examples:
  chain-agent run
  chain-agent run --config /etc/chain-agent/config.yaml
  chain-agent run --listen 127.0.0.1:9900 --set ledger.enabled=false`,
  load: () => run,
})

/**
 * V8 compiles a function again, on other threads, when it expects that to be worth it. In a process that is idle for 98 %
 * of the time it rarely is: the compilers needed a quarter of the CPU time. A function must run 256 times as often as
 * by default; in a flood of lines it soon has. V8 reads the value each time. Its name is another one since V8 12.
 */
const COMPILE_LATER =
  Number.parseInt(process.versions.v8, 10) < 12
    ? `--interrupt-budget=${256 * 67_584}`
    : `--invocation-count-for-turbofan=${256 * 3000}`

/** When every collector has run. */
const STARTED_AFTER_MS = 30 * second

/** Frees what only the start needed: by itself V8 does so when the heap has grown by half, after an hour. */
const freeMemoryOfStart = async ({ clock, signal }: Context): Promise<void> => {
  await clock.sleep(STARTED_AFTER_MS, signal)
  if (signal.aborted) return
  setFlagsFromString('--expose-gc')
  runInNewContext('gc()')
}

const run = async ({ io, exit, options }: ActionContext<ConfigOptions>): Promise<void> => {
  setFlagsFromString(COMPILE_LATER)
  const [{ startAgent }, { configOf }, { createLog }, { notifySystemd }, { createUnitWatch }] = await Promise.all([
    import('../../agent/agent.ts'),
    import('../../terminal/config.ts'),
    import('../../terminal/logger.ts'),
    import('./systemd-notify.ts'),
    import('../../sources/unit-watch.ts'),
  ])
  const read = () => configOf(io, options).config
  const config = read()
  const log = createLog(config, io)
  const path = searchPath(io)
  const starting = startAgent({ config, clock: io.clock, log, path, watchUnits: createUnitWatch() })
  io.onHangup?.(() => {
    // A failure of the start is reported below.
    void starting.then(
      (agent) => agent.reload(read),
      () => undefined,
    )
  })
  const agent = await starting
  log.info(`Serving ${agent.scheme}://${hostAndPort(agent.address)}/metrics`)
  void freeMemoryOfStart(io)
  await Promise.all([
    notifySystemd({ ...io, path, complain: (message) => log.error(message) }),
    waitForAbort(io.signal),
  ])
  log.info('Stopping')
  await agent.stop()
  exit(0)
}
