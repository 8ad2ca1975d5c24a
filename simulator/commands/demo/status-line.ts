import type { Clock } from '../../../src/core/clock.ts'
import { SourceError } from '../../../src/core/errors.ts'
import { figure } from '../../../src/core/format.ts'
import { LIMITS } from '../../../src/core/limits.ts'
import { createHttpClient } from '../../../src/sources/http.ts'

const TIMEOUT_MS = 2000

/** The agent's key metrics of the node in one line, or a note if the agent does not respond. */
export const readStatusLine = async (url: string, clock: Clock, signal: AbortSignal): Promise<string> => {
  try {
    const limits = { timeout: TIMEOUT_MS, maxBytes: LIMITS.response.agentBytes }
    const { status, text } = await createHttpClient(clock)({ url, accept: 'text/plain', ...limits, signal })
    return status === 200 ? renderStatusLine(text) : NO_RESPONSE
  } catch (error) {
    if (error instanceof SourceError) return NO_RESPONSE
    throw error
  }
}

const NO_RESPONSE = 'the agent does not respond yet'

/** Renders the key metrics from the text of a scrape; `-` for an absent metric. */
export const renderStatusLine = (metrics: string): string => {
  const value = (series: string): string => {
    const line = metrics.split('\n').find((candidate) => candidate.startsWith(`${series} `))
    return line?.slice(series.length + 1).trim() ?? '-'
  }
  const number = (series: string): string => {
    const found = value(series)
    return found === '-' ? found : figure(Number(found))
  }
  const services = [...metrics.matchAll(/^chain_service_active\{service="([^"]*)"\} ([01])$/gm)]
  const active = services.filter(([, , state]) => state === '1').map(([, service]) => service)
  return [
    `height ${number('chain_rpc_block_number{tag="latest"}')}`,
    `difference ${number('chain_block_difference')}`,
    `rpc up ${value('chain_rpc_up')}`,
    `ledger ${number('chain_ledger_seq_num{event="proposed"}')}`,
    `active ${active.length === 0 ? '-' : active.join(' ')}`,
  ].join('  ')
}
