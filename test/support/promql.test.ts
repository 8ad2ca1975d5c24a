import { expect, test } from 'vitest'
import { readPromql } from './promql.ts'

test('metrics, labels and groupings, wherever they stand', () => {
  expect(
    readPromql(
      `max by (instance, job) (rate(chain_a_total{event="x",service=~"a|b"}[5m])) > 2
       unless on (instance) (chain_b == 1) # chain_comment
       or {__name__=~"chain_c|chain_d"}`,
    ),
  ).toEqual({
    selected: [
      {
        metric: 'chain_a_total',
        labels: { event: 'x', service: '' },
        matchers: [
          { label: 'event', comparison: '=', value: 'x' },
          { label: 'service', comparison: '=~', value: 'a|b' },
        ],
      },
      { metric: 'chain_b', labels: {}, matchers: [] },
      { metric: 'chain_c', labels: {}, matchers: [] },
      { metric: 'chain_d', labels: {}, matchers: [] },
    ],
    groupings: ['instance', 'job'],
  })
})

test('what is no PromQL is refused', () => {
  expect(() => readPromql('chain_a > > 2')).toThrow('no PromQL')
})
