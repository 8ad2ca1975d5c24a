import { defineCommand } from '../../../src/terminal/define-command.ts'
import { type ActionContext, unlessInterrupted } from '../../../src/terminal/io.ts'
import { openService, type ServiceOptions, serviceOf, serviceOptions } from '../query/service.ts'

/** `chain-agent height`: prints the newest block of a query service. */
export const heightCommand = defineCommand({
  options: (command) => serviceOptions(command).option('--json', 'print JSON'),
  help: `A request that fails is sent again after up to 5 s, and after a rate limit when
the service accepts requests again, at most 15 minutes later; each wait is
reported on standard error. A connection that is refused on this host
fails at once.

Exit codes: 0 the height was printed, 1 the service did not respond or has no
block yet, 2 usage error, 3 the API key was rejected, 5 the response is not a
height, 130 interrupted.

Examples:
  chain-agent height --url https://query.example
  chain-agent height --url https://query.example --api-key-file /etc/chain-agent/query-key --json`,
  load: () => printHeight,
})

const printHeight = async ({
  io,
  exit,
  options,
}: ActionContext<ServiceOptions & { readonly json?: true }>): Promise<void> => {
  const [{ createRetryReporter }, { exitWithError }] = await Promise.all([
    import('../query/progress.ts'),
    import('../query/report.ts'),
  ])
  try {
    const onRetry = createRetryReporter(io, options.url)
    const client = await openService(serviceOf(options), { ...io, onRetry })
    const interrupted = (): void => {
      exit(130)
    }
    const height = await unlessInterrupted(io, interrupted, () => client.height(io.signal))
    if (height === undefined) return
    io.stdout.write(options.json ? `${JSON.stringify({ height })}\n` : `${height}\n`)
    exit(0)
  } catch (error) {
    await exitWithError(io, exit, { thrown: error })
  }
}
