// The table in README.md of what the agent costs the node.
import { readFileSync } from 'node:fs'
import { BLOCK_TAGS, definition } from '../../.cache/modules/src/collectors/rpc/definition.js'
import { LIMITS } from '../../.cache/modules/src/core/limits.js'
import { replaceTable } from './suites.mjs'

const MiB = 1024 ** 2
const count = (amount, one) => `${amount} ${one}${amount === 1 ? '' : 's'}`

/** The figure of chain-agent in a section of bench/README.md, without minimum and maximum. */
const figureOf = (report, section, figure) => {
  const text = report.split(/^## /m).find((part) => part.split('\n')[0].endsWith(`(\`${section}\`)`)) ?? ''
  const row = text.split('\n').find((line) => line.startsWith(`| ${figure} | chain-agent | `))
  const [value] = row?.match(/(?<=\| chain-agent \| )[\d.,]+/) ?? []
  if (value === undefined) throw new Error(`bench/README.md has no ${figure} of chain-agent in ${section}`)
  return value
}

/** README.md with the table in the place of the one that it has. */
export const renderCosts = (page) => {
  const report = readFileSync('bench/README.md', 'utf8')
  const unit = readFileSync('deploy/chain-agent.service', 'utf8')
  const both = (figure, of) =>
    `${figureOf(report, 'agent', figure)} ${of}, or ${figureOf(report, 'agent-logs', figure)} ${of === 'MiB' ? of : '%'} while all units log at level DEBUG`
  const [, most = ''] = /^MemoryMax=(\d+)M$/m.exec(unit) ?? []
  const seconds = definition.settings.parse(undefined).interval / 1000
  const calls = 1 + BLOCK_TAGS.length
  return replaceTable(page, '| resource ', [
    ['resource', 'what the agent uses'],
    ['CPU', both('CPU, % of one core', '% of one core')],
    ['memory', `${both('RSS with children, MiB', 'MiB')}; the limit of the unit is ${most} MiB`],
    [
      'disk',
      `up to ${LIMITS.state.incidentsBytes / MiB} MiB of incidents and ${LIMITS.state.eventsBytes / MiB} MiB of events, in addition to its counters`,
    ],
    [
      'RPC',
      `${count(2 / seconds, 'request')} and ${count(calls / seconds, 'call')} a second: every ${seconds} s \`eth_blockNumber\`, and a batch of ${BLOCK_TAGS.length} \`eth_getBlockByNumber\``,
    ],
  ])
}
