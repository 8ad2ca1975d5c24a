import { figure, size } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import { fact, timeFact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { nullableNumber, nullableInteger, lenientObject, objectOrNull, timestamp } from './reading-schema.ts'
import { relativeTime, share } from './format.ts'

const history = objectOrNull({ version: nullableInteger, earliest: nullableInteger })

const schema = lenientObject({
  lastEntryAt: timestamp,
  block: objectOrNull({ number: nullableInteger, at: timestamp }),
  finalized: nullableInteger,
  usedRatio: nullableNumber,
  chunks: objectOrNull({ fast: nullableInteger, slow: nullableInteger, free: nullableInteger }),
  history: lenientObject({ primary: history, secondary: history }),
  residentBytes: nullableNumber,
})

const executionIn = (view: View) => view.reading('execution', schema)

/** Why the log has no current value; undefined if it should have one. */
const staleReason = (lastEntryAt: number | null, view: View): string | undefined => {
  if (!view.hasReading('execution')) return undefined
  if (lastEntryAt === null) return 'no line of its log was read'
  return view.at - lastEntryAt > minute ? 'no new log lines' : undefined
}

export const execution: Section = {
  name: 'execution',
  groups: [
    {
      collector: 'execution',
      source: 'its log',
      facts: (view) => {
        const reading = executionIn(view)
        const now = view.at
        const why = staleReason(reading.lastEntryAt, view)
        return [
          fact('blockNumber', reading.block?.number, {
            unknownReason: why,
            label: 'executed block',
            text: figure,
          }),
          timeFact('blockTime', reading.block?.at, { unknownReason: why, label: 'its time', now }),
          fact('finalizedBlockNumber', reading.finalized, {
            unknownReason: why,
            label: 'finalized block',
            text: figure,
          }),
          fact('residentBytes', reading.residentBytes, {
            unknownReason: why,
            label: 'memory',
            text: size,
          }),
          fact(['database', 'usedRatio'], reading.usedRatio, {
            unknownReason: why,
            label: 'database used',
            text: share,
          }),
          fact(['database', 'chunks'], reading.chunks, {
            unknownReason: why,
            label: 'chunks',
            text: (lists) =>
              joined(
                Object.entries(lists).map(
                  ([name, chunks]) => `${name} ${chunks === null ? 'unknown' : figure(chunks)}`,
                ),
              ) ?? '',
          }),
          fact(['database', 'earliestBlock'], reading.history.primary?.earliest, {
            unknownReason: why,
            label: 'history from block',
            text: figure,
          }),
          timeFact('lastEntryAt', reading.lastEntryAt, {
            unknownReason: why,
            label: 'newest line',
            now,
          }),
        ]
      },
    },
  ],
  summary: (view) => {
    const { block, residentBytes } = executionIn(view)
    if (block === null || block.number === null) return null
    return summary(
      joined([
        `block ${figure(block.number)}${block.at === null ? '' : ` of ${relativeTime(block.at, view.at)}`}`,
        residentBytes === null ? null : `${size(residentBytes)} of memory`,
      ]),
    )
  },
}
