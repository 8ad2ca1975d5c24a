import { figure, size } from '../../core/format.ts'
import { minute } from '../../core/units.ts'
import { fact, momentFact } from './fact.ts'
import { joined, type Section, summary, type View } from './section.ts'
import { amount, digits, shape, shapeOrNull, timestamp } from './shapes.ts'
import { away, share } from './texts.ts'

const history = shapeOrNull({ version: digits, earliest: digits })

const schema = shape({
  lastEntryAt: timestamp,
  block: shapeOrNull({ number: digits, at: timestamp }),
  finalized: digits,
  usedRatio: amount,
  chunks: shapeOrNull({ fast: digits, slow: digits, free: digits }),
  history: shape({ primary: history, secondary: history }),
  residentBytes: amount,
})

const executionIn = (view: View) => view.reading('execution', schema)

/** Why its log tells nothing of now; undefined where it should. */
const silenceOf = (lastEntryAt: number | null, view: View): string | undefined => {
  if (!view.hasTold('execution')) return undefined
  if (lastEntryAt === null) return 'no line of it was heard'
  return view.at - lastEntryAt > minute ? 'its log is silent' : undefined
}

export const execution: Section = {
  name: 'execution',
  about: 'newest executed block, memory, the database as execution logs it',
  groups: [
    {
      from: 'execution',
      by: 'its log',
      facts: (view) => {
        const told = executionIn(view)
        const now = view.at
        const why = silenceOf(told.lastEntryAt, view)
        return [
          fact('blockNumber', told.block?.number, { why, label: 'executed block', text: figure }),
          momentFact('blockTime', told.block?.at, { why, label: 'its time', now }),
          fact('finalizedBlockNumber', told.finalized, {
            why,
            label: 'finalized block',
            text: figure,
          }),
          fact('residentBytes', told.residentBytes, { why, label: 'memory', text: size }),
          fact(['database', 'usedRatio'], told.usedRatio, {
            why,
            label: 'database used',
            text: share,
          }),
          fact(['database', 'chunks'], told.chunks, {
            why,
            label: 'chunks',
            text: (lists) =>
              joined(
                Object.entries(lists).map(
                  ([name, chunks]) => `${name} ${chunks === null ? 'unknown' : figure(chunks)}`,
                ),
              ) ?? '',
          }),
          fact(['database', 'earliestBlock'], told.history.primary?.earliest, {
            why,
            label: 'history from block',
            text: figure,
          }),
          momentFact('lastEntryAt', told.lastEntryAt, { why, label: 'newest line', now }),
        ]
      },
    },
  ],
  summary: (view) => {
    const { block, residentBytes } = executionIn(view)
    if (block === null || block.number === null) return null
    return summary(
      joined([
        `block ${figure(block.number)}${block.at === null ? '' : ` of ${away(block.at, view.at)}`}`,
        residentBytes === null ? null : `${size(residentBytes)} of memory`,
      ]),
    )
  },
}
