import { describe, expect, it } from 'vitest'
import { COLOUR } from '../../dashboards/build/colours.ts'
import { combinedLimits } from '../../dashboards/build/limits.ts'
import { askedOf, limitRecorded, limitsOf, runbookOf } from '../../dashboards/build/rules.ts'

const BEHIND = { alert: 'ChainBehind', metric: 'instance:chain_behind:seconds' }

describe('limits of panels', () => {
  it('are the numbers that the alert compares its metric with, for each severity', () => {
    const found = limitsOf('ChainBehind', 'instance:chain_behind:seconds')
    expect(found.map(({ severity, bad, value }) => [severity, bad, value])).toEqual([
      ['warning', 'above', 5],
      ['critical', 'above', 20],
    ])
  })

  it('of `a - b < 604800 > 0` is the number that a itself is compared with', () => {
    const found = limitsOf('ChainBlind', 'chain_fork_activation_timestamp_seconds')
    expect(found).toMatchObject([{ bad: 'below', value: 604_800 }])
  })

  it('where more is bad, begin well and get worse', () => {
    const { steps, words } = combinedLimits(BEHIND)
    expect(steps).toEqual([
      { value: null, color: COLOUR.good },
      { value: 5, color: COLOUR.warning },
      { value: 20, color: COLOUR.critical },
    ])
    expect(words('s')).toBe('warning > 5 s, critical > 20 s')
  })

  it('where less is bad, begin at the worst', () => {
    const { steps, words } = combinedLimits({
      alert: 'ChainBlocksyncWindow',
      metric: 'chain_blocksync_window_remaining_blocks',
    })
    expect(steps).toEqual([
      { value: null, color: COLOUR.critical },
      { value: 300, color: COLOUR.warning },
      { value: 450, color: COLOUR.good },
    ])
    expect(words('locale')).toBe('warning < 450, critical < 300')
  })

  it('of whole things begin with the next one, and above 0 is not 0', () => {
    const restarting = { alert: 'ChainServiceCrashed.restarts', metric: 'chain_service_starts_total' }
    expect(combinedLimits({ ...restarting, whole: true }).steps[1]?.value).toBe(3)
    const errors = { alert: 'ChainDriveFailing.errors', metric: 'chain_host_nvme_media_errors_total' }
    expect(combinedLimits(errors).steps[1]?.value).toBeGreaterThan(0)
  })

  it('fail the build where the alert is gone, compares no such metric, or disagrees on what is bad', () => {
    expect(() => limitsOf('ChainGone', 'up')).toThrow('no rule in alerts/ gives the alert ChainGone')
    expect(() => limitsOf('ChainBehind', 'chain_rpc_up')).toThrow('with no number')
    expect(() =>
      combinedLimits(BEHIND, { alert: 'ChainBlocksyncWindow', metric: 'chain_blocksync_window_remaining_blocks' }),
    ).toThrow('do not agree')
  })

  it('are also what a recorded series is yes or no about, and the buckets that an alert looks at', () => {
    expect(limitRecorded('instance:chain_available:bool')).toBe(30)
    expect(() => limitRecorded('instance:chain_block_age:seconds')).toThrow('no one number')
    expect(askedOf('ChainExecutionSlow', 'le')).toEqual([{ severity: 'warning', value: '0.1' }])
  })

  it('lead to the runbook of the alert', () => {
    expect(runbookOf('ChainBehind')).toMatch(/\/runbooks\/ChainBehind$/)
  })
})
