// How many of the warnings and errors in the node's source the patterns recognise, by program.
import { readFileSync } from 'node:fs'
import { parseConsensusLine } from '../.cache/modules/src/parsers/consensus-log.js'
import { classifyLine, patternsOf } from '../.cache/modules/src/parsers/log-patterns/classify.js'

const LIST = new URL('../test/fixtures/log-patterns/messages.tsv', import.meta.url)

/** A message as its program writes it, with a value in each placeholder. */
const lineOf = ({ service, crate, level, message }) => {
  const text = message.replaceAll(/\{[^}]*\}/g, '7')
  if (level === 'none') return text
  const word = level.toUpperCase()
  if (service === 'execution') return `2026-05-02 08:00:00.123456789 [7] a.cpp:1 LOG_${word}\t${text}`
  return JSON.stringify({
    timestamp: '2026-05-02T08:00:00.000123Z',
    level: word,
    fields: { message: text },
    target: `chain_${crate.replaceAll('-', '_')}::module`,
  })
}

/** The analysis of the consensus log knows some messages that have no pattern. */
const eventOf = (service, line) => {
  const event = service === 'bft' ? parseConsensusLine(line)?.event : undefined
  return event === undefined || event === 'other' ? null : event
}

/** Every message of the list with the pattern or event that recognises it; `null` if only its level is counted. */
export const recognisedMessages = () =>
  readFileSync(LIST, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((row) => {
      const [service, crate, level, asks, message] = row.split('\t')
      const line = lineOf({ service, crate, level, message })
      const [pattern] = classifyLine(patternsOf(service), line).patterns
      return { service, level, asks: asks === 'act', message, name: pattern?.name ?? eventOf(service, line) }
    })
