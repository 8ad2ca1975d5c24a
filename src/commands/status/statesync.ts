import { duration, figure } from '../../core/format.ts'
import { consensusLog } from './consensus.ts'
import { fact, timeFact } from './fact.ts'
import { FROM_STATUS_REPORT, statusReport } from './report.ts'
import { type Section, summary, type View } from './section.ts'
import { share } from './format.ts'

const derivedFrom = ({ known }: View) => {
  const progressedAt = known.value('chain_statesync_last_progress_timestamp_seconds')
  return {
    etaSeconds: known.value('chain_statesync_eta_seconds'),
    lastProgressAt: progressedAt === undefined ? undefined : Math.round(progressedAt * 1000),
  }
}

/** From the log or the metrics of consensus; undefined if neither was read. */
const isActive = (view: View): boolean | undefined =>
  consensusLog(view).statesyncActive ?? toFlag(view.known.value('chain_native_statesync_active'))

const toFlag = (value: number | undefined): boolean | undefined => (value === undefined ? undefined : value === 1)

/** With four decimals, as in the status report. */
const percentOf = (ratio: number): number => Number((ratio * 100).toFixed(4))

export const statesync: Section = {
  name: 'statesync',
  groups: [
    {
      ...FROM_STATUS_REPORT,
      facts: (view) => {
        const { progressRatio, progressBlock, targetBlock } = statusReport(view).statesync
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
      collector: 'consensus',
      source: 'its log',
      facts: (view) => [
        fact('active', isActive(view), {
          label: 'active',
          tone: (active) => (active ? 'notice' : undefined),
        }),
      ],
    },
    {
      collector: 'derived',
      source: 'its progress rate',
      facts: (view) => {
        const { etaSeconds, lastProgressAt } = derivedFrom(view)
        const none = isActive(view) === false ? { absent: 'none: not active' } : {}
        return [
          fact('etaSeconds', etaSeconds, {
            label: 'remaining',
            text: (seconds) => duration(seconds * 1000),
            ...none,
          }),
          timeFact('lastProgressAt', lastProgressAt, {
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
    if (!active) return summary('not active')
    const { progressRatio: reported, targetBlock } = statusReport(view).statesync
    // The status report may be minutes old: a target of 0 is from before this statesync.
    const progressRatio = targetBlock === '0' ? null : reported
    const { etaSeconds } = derivedFrom(view)
    return summary(
      'active' +
        (progressRatio === null ? '' : `, ${share(progressRatio)} done`) +
        (etaSeconds === undefined ? '' : `, ${duration(etaSeconds * 1000)} remaining`),
      'notice',
    )
  },
}
