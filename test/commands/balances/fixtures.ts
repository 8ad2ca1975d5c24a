import { onTestFinished } from 'vitest'
import { cli } from '../../support/cli.ts'
import { startContractNode } from '../../support/contract-node.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { type QueryServer, type QueryServerOptions, startQueryServer } from '../../support/query-server.ts'
import { history, TOKEN } from '../../support/token-logs.ts'

/** Starts a query service; it is closed after the test. By default Ada has 35 and Bob 15. */
export const serve = async (options: QueryServerOptions = {}): Promise<QueryServer> => {
  const server = await startQueryServer({ logs: history(5), height: 9, ...options })
  onTestFinished(server.close)
  return server
}

/** Starts a node with the contract; it is closed after the test. */
export const startNode = async (...args: Parameters<typeof startContractNode>) => {
  const started = await startContractNode(...args)
  onTestFinished(started.close)
  return started
}

/** The published selector of totalSupply(). */
export const TOTAL_SUPPLY = '0x18160ddd'

export const words = ({ url }: { readonly url: string }, standard: string, ...more: readonly string[]) => [
  ...`balances --url ${url} --standard ${standard} --token ${TOKEN}`.split(' '),
  ...more,
]

export const argv = (server: { readonly url: string }, ...more: readonly string[]) => words(server, 'erc20', ...more)

/** Runs the command with a clock whose waits end at once. */
export const hurried = async (given: readonly string[]) => {
  const clock = manualClock()
  const run = cli(given, { clock })
  let isOver = false
  void run.finally(() => {
    isOver = true
  })
  while (!isOver) await clock.advance(50)
  return run
}

export const UNVERIFIED =
  'Unverified: a log that the service left out would not be noticed. To compare balances with the contract, use --rpc URL.'
/** Without line breaks. */
export const unwrapped = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()
