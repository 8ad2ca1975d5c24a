import { duration, figure } from '../../core/format.ts'
import { second } from '../../core/units.ts'
import { databaseUsedRatio } from '../../core/agreement.ts'
import { USUAL_RATE } from '../limits.ts'
import { percent, shortDuration } from '../format.ts'
import { areKeyFilesElsewhere, type Situation } from './situation.ts'

/** The evidence that is listed for every node, one fact each, including what is not known. */
export const evidenceOf = (situation: Situation): readonly string[] => [
  ...distance(situation),
  ...(situation.isSyncing ? [] : windowLeft(situation)),
  database(situation),
  epoch(situation),
  ...[...situation.trouble].flatMap(([name, text]) => (text === '' ? [] : [`The log has ${name}: ${text}`])),
  ...(areKeyFilesElsewhere(situation)
    ? ['No key file and no backup was found: check `node.directory`. Without keystores the node does not start.']
    : []),
  ...(situation.isLogKnown ? [] : ['The logs could not be searched.']),
]

const distance = ({ gap, age }: Situation): readonly string[] => {
  const newest = age === undefined ? '' : ` Its newest block is ${shortDuration(age * second)} old.`
  if (!gap) return [`How far the node is behind is not known.${newest}`]
  const blocks = `${gap.isAtLeast ? 'at least ' : ''}${figure(gap.blocks)}`
  const by = {
    references: 'by the height that the references agree on',
    window: "by the agent's own estimate",
    age: 'by the age of its newest block; the height of the network is unknown',
  }[gap.by]
  return [`The node is ${blocks} blocks behind, ${by}.${newest}`]
}

/** How much of the blocksync window is left: until it closes, a start of the services is enough. */
const windowLeft = ({ gap, window, known }: Situation): readonly string[] => {
  if (!gap) return [`Peers serve the last ${figure(window)} blocks; how many are left is not known.`]
  const left = Math.max(0, window - gap.blocks)
  const serve = `Peers serve the last ${figure(window)} blocks (the blocksync window)`
  if (left === 0) return [`${serve}: none are left, so a start leads to statesync.`]
  const rate = known.value('chain_blocks_per_second')
  const seconds = left / (rate ?? USUAL_RATE)
  const basis = rate === undefined ? `at ${USUAL_RATE} blocks a second` : 'at the current rate'
  return [`${serve}: ${figure(left)} are left, ${duration(seconds * second)} ${basis}.`]
}

const database = ({ known }: Situation): string => {
  const used = databaseUsedRatio(known)
  const timelines = known
    .series('chain_storage_timeline_info')
    .map(({ labels: { timeline = '', kind = '' } }) => `${timeline} timeline of kind ${kind}`)
  if (used === undefined && timelines.length === 0) {
    return 'Nothing is known of the database: its tool reported nothing.'
  }
  const facts = [...(used === undefined ? [] : [`${percent(used)} full`]), ...timelines]
  return `The database: ${facts.join(', ')}.`
}

/** Both recorded crashes after a partial restart were at an epoch boundary. */
const epoch = ({ known }: Situation): string => {
  const number = known.value('chain_ledger_epoch', { event: 'proposed' }) ?? known.value('chain_consensus_epoch')
  return `${number === undefined ? 'The epoch is not known' : `The epoch is ${figure(number)}`}; its end is not known.`
}
