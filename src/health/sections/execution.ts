import { duration, figure, size, count, share } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import { databaseUsedRatio } from '../../domain/agreement.ts'
import { NODE_FACTS } from '../../domain/node-facts.ts'
import { fact, type Fact, factsFor, relativeTime } from './fact.ts'
import { group, type Section, summary, type View } from './section.ts'
import { limitOf } from '../rules/index.ts'

/** Why the log has no current value; undefined if it should have one. */
const staleReason = (lastEntryAt: number | null, view: View): string | undefined => {
  if (!view.hasReading('execution')) return undefined
  if (lastEntryAt === null) return 'no line of its log was read'
  return view.at - lastEntryAt > minute ? 'no new log lines' : undefined
}

export const execution: Section = {
  name: 'execution',
  groups: [
    group('execution', 'its log', (view) => {
      const reading = view.readings.execution
      const { value, time } = factsFor(view.at, staleReason(reading?.lastEntryAt ?? null, view))
      return [
        value('blockNumber', reading?.block?.number, { label: 'executed block', text: figure }),
        time('blockTime', reading?.block?.at, { label: 'its time' }),
        value('finalizedBlockNumber', reading?.finalized, { label: 'finalized block', text: figure }),
        value('residentBytes', reading?.residentBytes, { label: 'memory', text: size }),
        value(['database', 'usedRatio'], reading?.usedRatio, { label: 'database used', text: share }),
        value(['database', 'chunks'], reading?.chunks, {
          label: 'chunks',
          text: (lists) =>
            Object.entries(lists)
              .map(([name, chunks]) => `${name} ${chunks === null ? 'unknown' : figure(chunks)}`)
              .join(', '),
        }),
        time('lastEntryAt', reading?.lastEntryAt, { label: 'newest line' }),
      ]
    }),
  ],
  summary: (view) => {
    const { block, residentBytes = null } = view.readings.execution ?? {}
    if (!block || block.number === null) return null
    return summary([
      `block ${figure(block.number)}${block.at === null ? '' : ` of ${relativeTime(block.at, view.at)}`}`,
      residentBytes === null ? null : `${size(residentBytes)} of memory`,
    ])
  },
}

const toneOfUse = (ratio: number) => (ratio >= limitOf('ChainStorageFull', 'warning') ? ('bad' as const) : undefined)

export const storage: Section = {
  name: 'storage',
  aliases: ['database', 'mpt'],
  groups: [
    group('storage', 'the storage tool', (view) => [
      ...deviceFacts(view),
      ...(['fast', 'slow', 'free'] as const).map((name) => listFact(name, view)),
      ...timelineFacts('primary', view),
      ...timelineFacts('secondary', view),
      fact('historyMaxBlocks', view.readings.storage?.historyMaxBlocks, {
        label: 'history limit',
        text: (blocks) => count(blocks, 'block'),
      }),
      ...latestFacts(view),
      fact(['compaction', 'thresholdRatio'], view.readings.storage && NODE_FACTS.compactionStart.value, {
        label: 'compaction threshold',
        text: share,
      }),
      completeness(view),
    ]),
    group('derived', 'its growth rate', ({ known }) => [
      fact(['compaction', 'inSeconds'], known.value('chain_storage_compaction_eta_seconds'), {
        label: 'compaction in',
        text: (seconds) => duration(seconds * 1000),
        unknownReason: 'not measured yet, or not growing',
      }),
    ]),
  ],
  summary: (view) => {
    const { devices = [], timelines } = view.readings.storage ?? {}
    // Without the report of the tool, as execution logs it.
    const used =
      devices.length > 0 ? Math.max(...devices.map(({ usedRatio }) => usedRatio ?? -1)) : databaseUsedRatio(view.known)
    if (used === undefined || used < 0) return null
    const capacity = devices.reduce((sum, { capacityBytes }) => sum + (capacityBytes ?? 0), 0)
    const blocks = timelines?.primary?.historyBlocks ?? null
    return summary(
      [
        `${share(used)}${devices.length === 0 ? '' : ` of ${size(capacity)}`} used`,
        blocks === null ? null : `history of ${count(blocks, 'block')}`,
      ],
      toneOfUse(used),
    )
  },
}

const deviceFacts = (view: View): readonly Fact[] => {
  const { devices = [] } = view.readings.storage ?? {}
  if (devices.length === 0) return [fact('devices', null)]
  return devices.map(({ path, ...value }) => {
    const name = path || 'a deleted file'
    return fact(['devices', name], value, {
      label: name,
      text: ({ capacityBytes, usedBytes, usedRatio }) => [
        `${usedRatio === null ? 'unknown' : share(usedRatio)} used`,
        `${usedBytes === null ? 'unknown' : size(usedBytes)} of ${capacityBytes === null ? 'unknown' : size(capacityBytes)}`,
      ],
      tone: ({ usedRatio }) => (usedRatio === null ? undefined : toneOfUse(usedRatio)),
    })
  })
}

const listFact = (name: 'fast' | 'slow' | 'free', view: View): Fact =>
  fact(['lists', name], view.readings.storage?.lists[name], {
    label: `${name} list`,
    text: ({ chunks, capacityBytes, usedBytes }) => [
      chunks === null ? 'unknown' : count(chunks, 'chunk'),
      capacityBytes === null ? null : `capacity ${size(capacityBytes)}`,
      usedBytes === null ? null : `used ${size(usedBytes)}`,
    ],
    tone: ({ chunks }) => (name === 'free' && chunks === 0 ? 'bad' : undefined),
  })

const timelineFacts = (name: 'primary' | 'secondary', view: View): readonly Fact[] => {
  const found = view.readings.storage?.timelines[name] ?? null
  // The second timeline exists while the database is converted to another encoding. A State Archive node keeps it.
  if (name === 'secondary' && found === null) return []
  const at = (part: string): readonly string[] => ['timelines', name, part]
  const label = name === 'primary' ? 'history' : 'second history'
  const kind = found?.kind ?? null
  return [
    fact(at('historyBlocks'), found?.historyBlocks, { label, text: (blocks) => count(blocks, 'block') }),
    fact(at('earliestBlock'), found?.earliestBlock, { label: `${label}, earliest`, text: figure }),
    fact(at('latestBlock'), found?.latestBlock, { label: `${label}, latest`, text: figure }),
    // Older tools do not print the encoding.
    ...(kind === null ? [] : [fact(at('kind'), kind, { label: `${label}, kind` })]),
    fact(at('autoExpireBlock'), found?.autoExpireBlock, { label: `${label}, auto-expire version`, text: figure }),
  ]
}

const latestFacts = (view: View): readonly Fact[] => {
  const latest = view.readings.storage?.latestBlock
  const withId = (name: 'proposed' | 'voted'): Fact =>
    fact(['latestBlock', name], latest?.[name], {
      label: `latest ${name}`,
      text: ({ number, id, round }) => [
        number === null ? 'unknown' : figure(number),
        id === null ? null : `id ${id}`,
        round === null ? null : `round ${figure(round)}`,
      ],
    })
  return [
    withId('proposed'),
    withId('voted'),
    fact(['latestBlock', 'finalized'], latest?.finalized, { label: 'latest finalized', text: figure }),
    fact(['latestBlock', 'verified'], latest?.verified, { label: 'latest verified', text: figure }),
  ]
}

/** Shows details only if the report is incomplete. */
const completeness = (view: View): Fact => {
  const { complete, unknownLines = null } = view.readings.storage ?? {}
  const unparsed = unknownLines ?? 0
  if (complete !== false && unparsed === 0) return fact('complete', complete, { label: 'report is complete' })
  return fact('complete', complete, {
    label: 'the report',
    text: (isComplete) => `${isComplete ? 'complete' : 'incomplete'}, ${count(unparsed, 'line')} not parsed`,
    tone: () => 'notice',
  })
}
