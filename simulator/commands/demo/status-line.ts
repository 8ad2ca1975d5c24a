import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { figure } from '../../../src/core/format.ts'

const TIMEOUT_MS = 2000

/** The agent's key metrics of the node in one line, or a note if the agent does not respond. */
export const readStatusLine = async (metricsUrl: string): Promise<string> => {
  try {
    return renderStatusLine(await fetchText(metricsUrl))
  } catch {
    return 'the agent does not respond yet'
  }
}

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
    `difference ${number('chain_blocks_behind')}`,
    `rpc up ${value('chain_rpc_up')}`,
    `ledger ${number('chain_ledger_seq_num{event="proposed"}')}`,
    `active ${active.length === 0 ? '-' : active.join(' ')}`,
  ].join('  ')
}

const fetchText = async (url: string): Promise<string> => {
  const request = get(url, { timeout: TIMEOUT_MS })
  request.on('timeout', () => request.destroy(new Error('no response in time')))
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve).once('error', reject)
  })
  if (response.statusCode !== 200) throw new Error('no metrics')
  return await text(response)
}
