import { z } from 'zod'
import type { SampleIndex } from '../core/sample-index.ts'
import { second } from '../core/units.ts'
import type { Evidence } from './finding.ts'
import { timestamp } from './picture.ts'

interface Block {
  readonly height: number
  /** Its own time, in seconds since the epoch. */
  readonly time: number
}

/** The newest block that the node told of, by its own time: height and time of one witness. */
export const newestBlock = (known: SampleIndex): Block | undefined => {
  const told = [
    {
      height: known.value('chain_rpc_block_number', { tag: 'latest' }),
      time: known.value('chain_rpc_block_timestamp_seconds', { tag: 'latest' }),
    },
    {
      height: known.value('chain_ledger_seq_num', { event: 'proposed' }),
      time: known.value('chain_ledger_block_timestamp_seconds', { event: 'proposed' }),
    },
  ].flatMap(({ height, time }) =>
    height === undefined || time === undefined ? [] : [{ height, time }],
  )
  return told.toSorted((a, b) => b.time - a.time)[0]
}

/** Its age in seconds. */
export const blockAge = ({ known, at }: Pick<Evidence, 'known' | 'at'>): number | undefined => {
  const block = newestBlock(known)
  return block && Math.max(0, at / second - block.time)
}

const RECENT_S = 10

/**
 * Whether a block came in the last seconds, however old it was. The RPC's height has grown; or the ledger
 * stream goes on and consensus commits: that stream alone also tells of its own start, and of old blocks.
 */
export const isAdvancing = ({ known, at }: Pick<Evidence, 'known' | 'at'>): boolean => {
  const isRecent = (time: number | undefined): boolean =>
    time !== undefined && at / second - time < RECENT_S
  const heard = known.value('chain_agent_journal_last_entry_timestamp_seconds', {
    service: 'ledger-tail',
  })
  return (
    isRecent(known.value('chain_rpc_last_advance_timestamp_seconds')) ||
    (isRecent(heard) && known.value('chain_consensus_committing') === 1)
  )
}

/** Labels of services that should run and do not, or that systemd does not know. */
export const servicesDown = (known: SampleIndex): readonly string[] =>
  known
    .series('chain_service_active')
    .filter(({ value }) => value === 0)
    .map(({ labels }) => labels['service'] ?? '')
    .filter((service) => known.value('chain_service_expected', { service }) === 1)

/** Without these there are no blocks. */
export const isNodeDown = (known: SampleIndex, ...services: readonly string[]): boolean =>
  servicesDown(known).some((service) => services.includes(service))

/** Free share of the chunks of the database. */
export const freeChunks = (known: SampleIndex): number | undefined => {
  for (const name of ['chain_execution_storage_chunks', 'chain_storage_chunks'] as const) {
    const lists = known.series(name)
    const all = lists.reduce((sum, { value }) => sum + value, 0)
    const free = lists.find(({ labels }) => labels['list'] === 'free')
    if (free && all > 0) return free.value / all
  }
  return undefined
}

/** The share of statesync that is done. */
export const statesyncDone = (known: SampleIndex): number | undefined => {
  const told = known.value('chain_status_statesync_progress_ratio')
  return told !== undefined && told < 1 ? told : undefined
}

const schema = z.object({
  services: z.array(
    z.object({
      service: z.string(),
      unit: z.string(),
      activeState: z.string().nullish(),
      exit: z.object({ by: z.string(), status: z.string() }).nullish(),
      exitedAt: timestamp.nullish(),
    }),
  ),
})

export type ServiceFacts = z.output<typeof schema>['services'][number]

/** What systemd says of the units, by their labels; empty where that is unknown. */
export const serviceFacts = ({ collectors }: Evidence): ReadonlyMap<string, ServiceFacts> => {
  const told = collectors.find(({ name }) => name === 'services')
  const { data } = schema.safeParse(told?.reading)
  return new Map(data?.services.map((facts) => [facts.service, facts]))
}
