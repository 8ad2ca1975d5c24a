import { readFile } from 'node:fs/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { parseDuration } from '../../src/core/units.ts'
import { createSeriesHistory } from '../../src/health/changes/series-history.ts'
import { whatChanged } from '../../src/health/changes/words.ts'
import { listScenarios, loadScenario, type Scenario } from '../../simulator/scenario/scenario.ts'
import { startHost } from '../support/host.ts'

/** The healthy time before a scenario, in seconds: its beginning is at a multiple of the interval of the samples. */
const BEFORE_S = 180
/** How long after its first fault it is compared. */
const AFTER_S = 60

/** Nothing is wrong in these. */
const WITHOUT_FAULT = ['healthy', 'healthy-busy', 'healthy-busy-full-node', 'info-only-log']

/**
 * The metrics of the cause, from scenarios/README.md, where the signal names none or only a consequence: the
 * signal is evaluated at once, a cause is what an operator acts on.
 */
const CAUSES: Readonly<Record<string, readonly string[]>> = {
  // Three processes were killed; the signal is the window that closes after it.
  'node-down': ['chain_service_active', 'chain_service_state'],
  lagging: ['chain_block_difference'],
  // Most of its lines are at DEBUG; what journald drops is known at the end of the flood.
  'log-flood': ['chain_agent_lines_total', 'chain_log_suppressed_messages_total'],
  // Heights of the node stay in both: those of the references, or the difference from them, tell which it is.
  'network-halted': ['chain_reference_block_number', 'chain_ledger_block_timestamp_seconds'],
  stalled: ['chain_block_difference', 'chain_ledger_block_timestamp_seconds'],
  // Both count the rounds of this node that time out; the text of the scenario names the second as what rises.
  'own-timeouts': ['chain_ledger_own_timeouts_total', 'chain_duty_timeout_ratio'],
  'rpc-frozen': ['chain_rpc_block_number', 'chain_block_difference'],
  statesync: ['chain_consensus_statesync_active', 'chain_native_statesync_active'],
  'statesync-frozen': ['chain_native_statesync_progress_block', 'chain_statesync_last_progress_timestamp_seconds'],
  // The ratio follows from the chunks.
  'storage-filling': ['chain_storage_used_ratio', 'chain_storage_chunks'],
  'storage-full': ['chain_storage_used_ratio', 'chain_storage_chunks'],
}

/** The first fault that is no line of the scenario, in seconds: a day before the fork the running version counts. */
const BEGINS: Readonly<Record<string, number>> = { 'upgrade-missed': 30 }

/** When the failure is first read, in seconds after the first fault. */
const LATER: Readonly<Record<string, number>> = {
  // Once a minute, and the oldest entries every ten minutes.
  'disk-filling': 90,
  'timeline-missing': 90,
  'journal-evicted': 690,
  // The followers fail after six heartbeats and the timeout of the reader.
  'journal-frozen': 75,
  'no-journal-permission': 75,
}

/** The metric of the signal, which is the first name in it. */
const signalOf = (text: string): readonly string[] => {
  const [, signal = ''] = /^# Signal: (.*)$/m.exec(text) ?? []
  return [...signal.matchAll(/chain_[a-z_]+/g)].map(([name]) => name.replace(/_(?:bucket|sum|count)$/, '')).slice(0, 1)
}

/** The scenario after a healthy time. What has always been so stays at its beginning, if a fault follows. */
const shifted = (text: string, begin: number): string =>
  text.replaceAll(/^(\d+m?s|\d+m) +(?=\S)/gm, (_, time: string) => {
    const at = (parseDuration(time) ?? 0) / 1000
    return at === 0 && begin > 0 ? '0s ' : `${at + BEFORE_S}s `
  })

const play = async ({ name, steps }: Scenario) => {
  const text = await readFile(`scenarios/${name}.scenario`, 'utf8')
  const begin = BEGINS[name] ?? (steps.find(({ afterMs }) => afterMs > 0)?.afterMs ?? 0) / 1000
  const causes = CAUSES[name] ?? signalOf(text)
  const end = begin + (LATER[name] ?? AFTER_S)
  // The fork of this scenario has a fixed distance from its beginning.
  const isBound = name === 'upgrade-missed'
  const series = createSeriesHistory()
  const scenario = isBound ? name : shifted(text, begin)
  const host = await startHost({ scenario, second: isBound ? -BEFORE_S : 0, series })
  try {
    for (let at = -BEFORE_S; at < end;) {
      // What is due is read, and a second later evaluated.
      await host.pass(14)
      await host.pass(1)
      at += 15
    }
    const changes = whatChanged(series, { to: host.now(), span: (LATER[name] ?? AFTER_S) * 1000 })
    const isNamed = (words: string): boolean => causes.some((cause) => new RegExp(String.raw`\b${cause}\b`).test(words))
    return { causes, changes, rank: changes.findIndex((change) => isNamed(change)) + 1 }
  } finally {
    await host.close()
  }
}

const scenarios = (await listScenarios()).filter(({ name }) => !WITHOUT_FAULT.includes(name))
const ranks: string[] = []

describe.each(scenarios)('$name', (scenario) => {
  it('has the cause among the first five changes', async () => {
    const { causes, changes, rank } = await play(scenario)
    ranks.push(`${scenario.name.padEnd(24)}${rank}  ${changes[rank - 1] ?? `no change names ${causes.join(' or ')}`}`)
    const texts = changes.slice(0, 10)
    expect(rank, `${causes.join(' or ')} is not in the first five of:\n${texts.join('\n')}`).toBeGreaterThan(0)
    expect(rank, texts.join('\n')).toBeLessThanOrEqual(5)
  })
})

afterAll(() => {
  console.log(ranks.join('\n'))
})

it('of a healthy node no service, no height and no finding changes', async () => {
  const { changes: texts } = await play(await loadScenario('healthy'))
  expect(texts.length).toBeLessThanOrEqual(5)
  expect(texts.filter((text) => /chain_(?:service|rpc_up|native_up|block_difference|node)|: 0 → 1/.test(text))).toEqual(
    [],
  )
})
