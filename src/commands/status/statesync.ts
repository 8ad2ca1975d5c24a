import { duration, figure } from '../../core/format.ts'
import { consensusLog } from './consensus.ts'
import { fact, momentFact } from './fact.ts'
import { BY_REPORT, reportIn } from './report.ts'
import { type Section, summary, type View } from './section.ts'
import { share } from './texts.ts'

const derivedFrom = ({ known }: View) => {
  const progressedAt = known.value('chain_statesync_last_progress_timestamp_seconds')
  return {
    etaSeconds: known.value('chain_statesync_eta_seconds'),
    lastProgressAt: progressedAt === undefined ? undefined : Math.round(progressedAt * 1000),
  }
}

/** A log that is heard of and says nothing of statesync is a node that does without. */
const isActive = (view: View): boolean | undefined =>
  consensusLog(view).statesyncActive ?? toFlag(view.known.value('chain_native_statesync_active'))

const toFlag = (value: number | undefined): boolean | undefined =>
  value === undefined ? undefined : value === 1

/** As the report prints it: four digits behind the point are all that there are. */
const percentOf = (ratio: number): number => Number((ratio * 100).toFixed(4))

export const statesync: Section = {
  name: 'statesync',
  about: 'whether it is under way, how far, and when it will be done',
  groups: [
    {
      ...BY_REPORT,
      facts: (view) => {
        const { progressRatio, progressBlock, targetBlock } = reportIn(view).statesync
        return [
          fact('percentage', progressRatio === null ? null : percentOf(progressRatio), {
            text: (percentage) => share(percentage / 100),
          }),
          fact('progress', progressBlock, { text: figure }),
          fact('target', targetBlock, {
            text: (target) => (target === '0' ? '0 (no statesync needed)' : figure(target)),
          }),
        ]
      },
    },
    {
      from: 'consensus',
      by: 'its log',
      facts: (view) => [
        fact('active', isActive(view), {
          label: 'under way',
          tone: (active) => (active ? 'notice' : undefined),
        }),
      ],
    },
    {
      from: 'derived',
      by: 'its pace',
      facts: (view) => {
        const { etaSeconds, lastProgressAt } = derivedFrom(view)
        const none = isActive(view) === false ? { otherwise: 'none: not under way' } : {}
        return [
          fact('etaSeconds', etaSeconds, {
            label: 'done in',
            text: (seconds) => duration(seconds * 1000),
            ...none,
          }),
          momentFact('lastProgressAt', lastProgressAt, {
            label: 'last progress',
            now: view.at,
            ...none,
          }),
        ]
      },
    },
  ],
  summary: (view) => {
    const active = isActive(view)
    if (active === undefined) return null
    if (!active) return summary('not under way')
    const { progressRatio: reported, targetBlock } = reportIn(view).statesync
    // The report is up to minutes old: a target of 0 is from before this statesync.
    const progressRatio = targetBlock === '0' ? null : reported
    const { etaSeconds } = derivedFrom(view)
    return summary(
      'under way' +
        (progressRatio === null ? '' : `, ${share(progressRatio)} done`) +
        (etaSeconds === undefined ? '' : `, done in ${duration(etaSeconds * 1000)}`),
      'notice',
    )
  },
}
