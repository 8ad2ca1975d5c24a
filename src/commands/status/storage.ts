import { duration, figure, size } from '../../core/format.ts'
import { LIMITS } from '../../health/limits.ts'
import { type Fact, fact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import {
  nullableNumber,
  nullableInteger,
  nullableFlag,
  listOf,
  lenientObject,
  objectOrNull,
  nullableText,
} from './reading-schema.ts'
import { count, share } from './format.ts'

const list = objectOrNull({
  chunks: nullableNumber,
  capacityBytes: nullableNumber,
  usedBytes: nullableNumber,
})
const timeline = objectOrNull({
  kind: nullableText,
  historyBlocks: nullableInteger,
  earliestBlock: nullableInteger,
  latestBlock: nullableInteger,
  autoExpireBlock: nullableInteger,
})
const identified = objectOrNull({
  number: nullableInteger,
  id: nullableText,
  round: nullableInteger,
})

const schema = lenientObject({
  devices: listOf(
    lenientObject({
      path: nullableText,
      capacityBytes: nullableNumber,
      usedBytes: nullableNumber,
      usedRatio: nullableNumber,
    }),
  ),
  lists: lenientObject({ fast: list, slow: list, free: list }),
  timelines: lenientObject({ primary: timeline, secondary: timeline }),
  historyMaxBlocks: nullableInteger,
  latestBlock: lenientObject({
    proposed: identified,
    voted: identified,
    finalized: nullableInteger,
    verified: nullableInteger,
  }),
  complete: nullableFlag,
  unknownLines: nullableNumber,
})

const storageIn = (view: View) => view.reading('storage', schema)

const toneOfUse = (ratio: number) => (ratio >= LIMITS.storageUsed.critical ? ('bad' as const) : undefined)

export const storage: Section = {
  name: 'storage',
  aliases: ['database', 'mpt'],
  groups: [
    {
      collector: 'storage',
      source: 'the storage tool',
      facts: (view) => [
        ...deviceFacts(view),
        ...(['fast', 'slow', 'free'] as const).map((name) => listFact(name, view)),
        ...timelineFacts('primary', view),
        ...timelineFacts('secondary', view),
        fact('historyMaxBlocks', storageIn(view).historyMaxBlocks, {
          label: 'history limit',
          text: (blocks) => count(blocks, 'block'),
        }),
        ...latestFacts(view),
        fact(['compaction', 'thresholdRatio'], view.known.value('chain_storage_compaction_threshold_ratio'), {
          label: 'compaction threshold',
          text: share,
        }),
        ...completeness(view),
      ],
    },
    {
      collector: 'derived',
      source: 'its growth rate',
      facts: ({ known }) => [
        fact(['compaction', 'inSeconds'], known.value('chain_storage_seconds_until_compaction'), {
          label: 'compaction in',
          text: (seconds) => duration(seconds * 1000),
          unknownReason: 'not measured yet, or not growing',
        }),
      ],
    },
  ],
  summary: (view) => {
    const { devices, timelines } = storageIn(view)
    const fullest = Math.max(...devices.map(({ usedRatio }) => usedRatio ?? -1))
    if (devices.length === 0 || fullest < 0) return null
    const capacity = devices.reduce((sum, { capacityBytes }) => sum + (capacityBytes ?? 0), 0)
    const blocks = timelines.primary?.historyBlocks ?? null
    return summary(
      joined([
        `${share(fullest)} of ${size(capacity)} used`,
        blocks === null ? null : `history of ${count(blocks, 'block')}`,
      ]),
      toneOfUse(fullest),
    )
  },
}

const deviceFacts = (view: View): readonly Fact[] => {
  const { devices } = storageIn(view)
  if (devices.length === 0) return [fact('devices', null)]
  return devices.map((device) => {
    const { path, capacityBytes, usedBytes, usedRatio } = device
    const name = path || 'a deleted file'
    return fact(
      ['devices', name],
      { capacityBytes, usedBytes, usedRatio },
      {
        label: name,
        text: () =>
          joined([
            `${usedRatio === null ? 'unknown' : share(usedRatio)} used`,
            `${usedBytes === null ? 'unknown' : size(usedBytes)} of ${capacityBytes === null ? 'unknown' : size(capacityBytes)}`,
          ]) ?? '',
        tone: () => (usedRatio === null ? undefined : toneOfUse(usedRatio)),
      },
    )
  })
}

const listFact = (name: 'fast' | 'slow' | 'free', view: View): Fact =>
  fact(['lists', name], storageIn(view).lists[name], {
    label: `${name} list`,
    text: ({ chunks, capacityBytes, usedBytes }) =>
      joined([
        chunks === null ? 'unknown' : count(chunks, 'chunk'),
        capacityBytes === null ? null : `capacity ${size(capacityBytes)}`,
        usedBytes === null ? null : `used ${size(usedBytes)}`,
      ]) ?? '',
    tone: ({ chunks }) => (name === 'free' && chunks === 0 ? 'bad' : undefined),
  })

const timelineFacts = (name: 'primary' | 'secondary', view: View): readonly Fact[] => {
  const found = storageIn(view).timelines[name]
  // The second timeline exists only while the database is converted to another encoding.
  if (name === 'secondary' && found === null) return []
  const at = (part: string): readonly string[] => ['timelines', name, part]
  const label = name === 'primary' ? 'history' : 'second history'
  const { historyBlocks, earliestBlock, latestBlock, kind, autoExpireBlock } = found ?? NO_TIMELINE
  return [
    fact(at('historyBlocks'), historyBlocks, { label, text: (blocks) => count(blocks, 'block') }),
    fact(at('earliestBlock'), earliestBlock, { label: `${label}, earliest`, text: figure }),
    fact(at('latestBlock'), latestBlock, { label: `${label}, latest`, text: figure }),
    // Older tools do not print the encoding.
    ...(kind === null ? [] : [fact(at('kind'), kind, { label: `${label}, kind` })]),
    fact(at('autoExpireBlock'), autoExpireBlock, {
      label: `${label}, auto-expire version`,
      text: figure,
    }),
  ]
}

const NO_TIMELINE = {
  historyBlocks: null,
  earliestBlock: null,
  latestBlock: null,
  kind: null,
  autoExpireBlock: null,
}

const latestFacts = (view: View): readonly Fact[] => {
  const { proposed, voted, finalized, verified } = storageIn(view).latestBlock
  const withId = (name: 'proposed' | 'voted', block: typeof proposed): Fact =>
    fact(['latestBlock', name], block, {
      label: `latest ${name}`,
      text: ({ number, id, round }) =>
        joined([
          number === null ? 'unknown' : figure(number),
          id === null ? null : `id ${id}`,
          round === null ? null : `round ${figure(round)}`,
        ]) ?? '',
    })
  return [
    withId('proposed', proposed),
    withId('voted', voted),
    fact(['latestBlock', 'finalized'], finalized, { label: 'latest finalized', text: figure }),
    fact(['latestBlock', 'verified'], verified, { label: 'latest verified', text: figure }),
  ]
}

/** Shows details only if the report is incomplete. */
const completeness = (view: View): readonly Fact[] => {
  const { complete, unknownLines } = storageIn(view)
  return complete === false || (unknownLines ?? 0) > 0
    ? [
        fact('complete', complete, {
          label: 'the report',
          text: (isComplete) =>
            `${isComplete ? 'complete' : 'incomplete'}, ${count(unknownLines ?? 0, 'line')} not parsed`,
          tone: () => 'notice',
        }),
      ]
    : [fact('complete', complete, { label: 'report is complete' })]
}
