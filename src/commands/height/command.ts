import { Command } from 'commander'
import { openService } from '../query/service.ts'
import { type ExitCode, type Io, unlessInterrupted } from '../../cli/io.ts'
import { endWith } from '../query/ending.ts'
import { createRetryNotices } from '../query/retry-notices.ts'
import { serviceOf, type ServiceOptions, serviceOptions } from '../query/service-options.ts'

interface Options extends ServiceOptions {
  readonly json?: true
}

/** `chain-agent height`: how far a query service has come. */
export const heightCommand = (io: Io, exit: (code: ExitCode) => void): Command =>
  serviceOptions(new Command('height'))
    .description('print the newest block that a query service has')
    .option('--json', 'as JSON')
    .addHelpText(
      'after',
      `
A request that fails is sent again, with waits of up to 5 s in between; each wait is reported on standard error.
A connection that is refused on this host fails at once.

Exit codes: 0 the height was printed, 1 the service did not answer or has no block yet, 2 usage error, 3 the key
was not accepted, 5 the answer is not a height, 130 interrupted.

Examples:
  chain-agent height --url https://query.example
  chain-agent height --url https://query.example --api-key-file /etc/chain-agent/query-key --json`,
    )
    .action(async (options: Options) => {
      try {
        const onRetry = createRetryNotices(io, options.url)
        const client = await openService(serviceOf(options), { ...io, onRetry })
        const interrupted = (): void => {
          exit(130)
        }
        const height = await unlessInterrupted(io, interrupted, () => client.height(io.signal))
        if (height === undefined) return
        io.stdout.write(options.json ? `${JSON.stringify({ height })}\n` : `${height}\n`)
        exit(0)
      } catch (error) {
        await endWith(io, exit, { thrown: error })
      }
    })
