import { expect, test } from 'vitest'
import { createSampleIndex, sample } from '../../src/core/metric.ts'
import { roleSamples } from '../../src/health/role.ts'

const stake = (ratio: number) => sample('chain_native_stake_ratio', ratio)
const signs = (active: boolean) => sample('chain_duty_identity_active', active, { identity: '02ab', boot: '1' })
const statesync = sample('chain_native_statesync_active', 1)

test.each([
  ['stake', 'auto', [stake(0.01)], 'validator'],
  ['votes, while the stake is unknown', 'auto', [signs(true)], 'validator'],
  ['votes in the round in which the stake was withdrawn', 'auto', [stake(0), signs(true)], 'validator'],
  ['no stake and no votes', 'auto', [stake(0), signs(false)], 'full-node'],
  ['no reported stake, as during statesync', 'auto', [statesync], undefined],
  ['an unknown stake', 'auto', [signs(false)], undefined],
  ['the configuration alone', 'rpc', [], 'rpc'],
  ['the configuration against the stake', 'full-node', [stake(0.01)], 'full-node'],
] as const)('%s (%s)', (...[, configured, samples, expected]) => {
  const roles = roleSamples(configured, createSampleIndex(samples))
  expect(roles).toHaveLength(expected === undefined ? 0 : 3)
  expect(roles.filter(({ value }) => value === 1).map(({ labels }) => labels['role'])).toEqual(
    expected === undefined ? [] : [expected],
  )
})
