import { describe, expect, it } from 'vitest'
import { filtered, OR_NO_NODE } from '../../dashboards/build/promql.ts'

describe('expressions of panels', () => {
  it.each([
    ['chain_rpc_up', 'chain_rpc_up{job=~"$job", cluster=~"$cluster", instance=~"$instance"}'],
    ['up{a="b"} == 0', 'up{job=~"$job", cluster=~"$cluster", instance=~"$instance", a="b"} == 0'],
    [
      'sum by (le) (rate(x_bucket[$__rate_interval]))\n  / on (job) y',
      'sum by (le) (rate(x_bucket{job=~"$job", cluster=~"$cluster", instance=~"$instance"}[$__rate_interval])) / on (job) y{job=~"$job", cluster=~"$cluster", instance=~"$instance"}',
    ],
    [
      'max_over_time(x[$__range:1m]) or {__name__=~"i:.+"}',
      'max_over_time(x{job=~"$job", cluster=~"$cluster", instance=~"$instance"}[$__range:1m]) or {job=~"$job", cluster=~"$cluster", instance=~"$instance", __name__=~"i:.+"}',
    ],
  ])('%s asks for what the variables choose, in every selector', (expression, expected) => {
    expect(filtered(expression)).toBe(expected)
  })

  it('group and match nodes by cluster, too', () => {
    expect(filtered('sum by (job, instance, service) (up) and on (job, instance) up')).toBe(
      'sum by (job, cluster, instance, service) (up{job=~"$job", cluster=~"$cluster", instance=~"$instance"}) and on (job, cluster, instance) up{job=~"$job", cluster=~"$cluster", instance=~"$instance"}',
    )
  })

  it('ask for series without a node if those have no cluster, either', () => {
    expect(filtered(`ALERTS{${OR_NO_NODE}}`)).toBe('ALERTS{job=~"$job", cluster=~"$cluster|", instance=~"$instance|"}')
  })

  it('but in the sum over all nodes that use a key', () => {
    expect(
      filtered(
        '(chain_duty_identity_active == 1) * on (identity) group_left () count by (identity) (group by (identity, boot) (chain_duty_identity_active == 1)) > up',
      ),
    ).toBe(
      '(chain_duty_identity_active{job=~"$job", cluster=~"$cluster", instance=~"$instance"} == 1) * on (identity) group_left () count by (identity) (group by (identity, boot) (chain_duty_identity_active == 1)) > up{job=~"$job", cluster=~"$cluster", instance=~"$instance"}',
    )
  })

  it('that are no PromQL fail the build', () => {
    expect(() => filtered('sum by (x (up)')).toThrow('no PromQL')
  })
})
