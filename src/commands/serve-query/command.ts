import { Command } from 'commander'
import { serveQuery } from './serve-query.ts'
import { loadFor } from '../../cli/config-options.ts'
import type { ExitCode, Io } from '../../cli/io.ts'
import { createLog } from '../../cli/logger.ts'
import { flagsOfService, type Options, serveQueryOptions } from './options.ts'

/** `chain-agent serve-query`: a query service of one's own. */
export const serveQueryCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  serveQueryOptions(new Command('serve-query'))
    .description("index the node's event logs and answer queries until stopped")
    .addHelpText(
      'after',
      `
Indexes final blocks alone, each complete and joined to the one before it; GET /height is the last of them without a
gap before it. What is kept must be bounded: by contracts or topics, by blocks or bytes, or by --unbounded in so many
words. A store belongs to one chain and one choice of contracts and topics, and is refused for another; a query for
more than is kept is refused as well.

Each option is a key of serveQuery in the configuration file, too (chain-agent config --example), and wins over it.
Without --api-keys-file whoever reaches --listen is answered: leave it on loopback, or put it behind a proxy that
speaks TLS. While the node is away, what is held is served. Ctrl-C ends it in good order; killed, it goes on where it
was.

SIGHUP (systemctl reload) reloads the configuration: log.level, and of serveQuery apiKeysFile (and the keys in the
file), rateLimit and readyLag. The log names all other keys that changed: they need a restart. If the configuration
is invalid, the service logs the error and keeps the previous one.

Examples:
  chain-agent serve-query --store ./logs --contract 0x1111111111111111111111111111111111111111
  chain-agent serve-query --store ./logs --topic 'Transfer(address,address,uint256)' --retention-bytes 500GB
  chain-agent serve-query --store ./logs --retention-blocks 1000000 --rpc-url http://localhost:8080 --from-block 40000000
  chain-agent serve-query --store clickhouse://agent@localhost:8123/logs --store-password-file /etc/chain-agent/clickhouse --unbounded
  chain-agent serve-query --config /etc/chain-agent/query-service.yaml --dialect hosted --api-keys-file /etc/chain-agent/query-keys`,
    )
    .action(async (options: Options) => {
      const read = () => loadFor(io, options.config, flagsOfService(options)).config
      const config = read()
      await serveQuery({
        config,
        clock: io.clock,
        log: createLog(config, io),
        signal: io.signal,
        ...(io.onHangup && { reloads: { on: io.onHangup, read } }),
      })
      exit(0)
    })
