import { expect, test } from 'vitest'
import { describeRenamed, findRenamed } from '../../src/health/rules/renamed.ts'

const short = (text: string): readonly string[] =>
  findRenamed(text).map(({ line, old, matchers }) => `${line}: ${old} => ${matchers ?? 'panel'}`)

const DEADLOCK = 'ChainConsensusDeadlock => alertname="ChainBlockStalled", why="deadlock"'

test('a name has its address and its matchers, and the line', () => {
  expect(findRenamed('route:\n  matchers: [alertname="ChainConsensusDeadlock"]\n')).toEqual([
    {
      line: 2,
      old: 'ChainConsensusDeadlock',
      now: 'ChainBlockStalled.deadlock',
      matchers: 'alertname="ChainBlockStalled", why="deadlock"',
    },
  ])
  expect(findRenamed('ChainWithdrawalReady')).toEqual([
    { line: 1, old: 'ChainWithdrawalReady', now: null, matchers: null },
  ])
})

test.each([
  ['names of today, and others', 'ChainBlockStalled ChainDiskFull.filling OtherChainAssertion ChainAssertions', []],
  ['a name twice in a line', 'ChainConsensusDeadlock|ChainConsensusDeadlock', [`1: ${DEADLOCK}`]],
  [
    'alternatives',
    'alertname=~"ChainBehind|ChainConsensusDeadlock|ChainEpochOverdue"',
    [`1: ${DEADLOCK}`, '1: ChainEpochOverdue => panel'],
  ],
  [
    'a group of a regular expression',
    'alertname=~"Chain(ConsensusDeadlock|Behind|WithdrawalReady)"',
    [`1: ${DEADLOCK}`, '1: ChainWithdrawalReady => panel'],
  ],
  ['a prefix of all', 'alertname=~"Chain.*"', []],
  ['no regular expression', 'Chain(Assertion|', []],
])('%s', (_, text, expected) => {
  expect(short(text)).toEqual(expected)
})

const KEY_FILES = 'reading="key files" => why="key-files"'

test.each([
  ['a list of matchers', 'matchers: [alertname="ChainBlind", reading="key files"]', [`1: ${KEY_FILES}`]],
  ['a list in another order', 'matchers: [reading="key files", alertname="ChainBlind"]', [`1: ${KEY_FILES}`]],
  ['a list without quotes', 'matchers: [ alertname = ChainBlind, reading = key files ]', [`1: ${KEY_FILES}`]],
  [
    'a list of lines',
    '- matchers:\n    - alertname="ChainBlind"\n    - \'reading=~"key files|disk"\'\n  receiver: chat\n',
    ['3: reading=~"key files|disk" => why=~"key-files|disk"'],
  ],
  ['matchers of 0.21', 'match:\n  alertname: ChainBlind\n  reading: key files\nreceiver: chat', [`3: ${KEY_FILES}`]],
  [
    'patterns of 0.21',
    'match_re:\n  reading: key files|disk\n  alertname: ChainBlind',
    ['2: reading=~"key files|disk" => why=~"key-files|disk"'],
  ],
  ['an item of a list', '- alertname: ChainBlind\n  reading: key files\n- reading: disk', [`2: ${KEY_FILES}`]],
  ['another alert', 'matchers: [alertname="ChainBehind", reading="key files"]', []],
  ['a value that is no label of ours', 'kind: Silence # ChainStakingMismatch', []],
  [
    'a value in other letters',
    '[alertname="ChainMonitoringFailing", problem="no Alertmanager"]',
    ['1: problem="no Alertmanager" => why="no-alertmanager"'],
  ],
  [
    'a `why` that had spaces',
    '[alertname="ChainLogsIncomplete", why=~"gap|dropped by journald"]',
    ['1: why=~"gap|dropped by journald" => why=~"gap|dropped"'],
  ],
  [
    'a selector of a dashboard',
    String.raw`{"expr": "ALERTS{alertname=\"ChainAgentFailing\",problem!=\"state\"} or x{problem=\"a\"}"}`,
    ['1: problem!="state" => why!="state"'],
  ],
  [
    'expected labels of a rule test',
    'alertname: ChainBlind\nexp_alerts:\n  - exp_labels:\n      severity: warning\n      reading: key files',
    [`5: ${KEY_FILES}`],
  ],
  [
    'expected labels on a line',
    'alertname: ChainBlind\nexp_alerts: [{ exp_labels: { severity: warning, reading: key files } }]',
    [`2: ${KEY_FILES}`],
  ],
])('a label in %s', (_, text, expected) => {
  expect(short(text)).toEqual(expected)
})

test.each([undefined, 2])('silences of amtool, with an indentation of %s', (indentation) => {
  const silence = (...matchers: readonly object[]) => ({ comment: 'test', matchers, status: { state: 'active' } })
  const matcher = (name: string, value: string, kind: object = {}) => ({
    isEqual: true,
    isRegex: false,
    ...kind,
    name,
    value,
  })
  const text = JSON.stringify(
    [
      silence(matcher('alertname', 'ChainBlind'), matcher('reading', 'key files')),
      silence(matcher('alertname', 'ChainBehind'), matcher('reading', 'disk')),
      silence(
        matcher('reading', 'disk|key files', { isEqual: false, isRegex: true }),
        matcher('alertname', 'ChainBlind'),
      ),
      silence(matcher('alertname', 'ChainAssertion')),
    ],
    null,
    indentation,
  )
  expect(
    short(text)
      .map((line) => line.replace(/^\d+: /, ''))
      .toSorted(),
  ).toEqual([
    'ChainAssertion => alertname="ChainLogTrouble", why="aborted"',
    'reading!~"disk|key files" => why!~"disk|key-files"',
    KEY_FILES,
  ])
})

const metrics = (text: string): readonly string[] => findRenamed(text).map(describeRenamed)
const BEHIND = 'chain_blocks_behind is chain_block_difference now'

test.each([
  ['an expression', 'expr: abs(chain_blocks_behind{job="a"}) > 3', [BEHIND]],
  ['a query for both versions', 'chain_block_difference or chain_blocks_behind', []],
  ['other names', 'instance:chain_blocks_behind:max chain_blocks_behind_total my_chain_blocks_behind', []],
  [
    'a name without a successor',
    'chain_staking_set_limit_members > 0',
    ['chain_staking_set_limit_members is not exported any more'],
  ],
  [
    'a value of a label',
    'rate(chain_native_events_total{job="a", event="vote_sent"}[5m])',
    ['chain_native_events_total{event="vote_sent"} is chain_native_events_total{event="vote_created"} now'],
  ],
  [
    'a value among others, of a dashboard',
    String.raw`"expr": "chain_native_events_total{job=~\"$job\", event=~\"local_timeout|vote_sent\"}"`,
    ['chain_native_events_total{event="vote_sent"} is chain_native_events_total{event="vote_created"} now'],
  ],
  [
    'a label',
    'chain_native_vote_delay_seconds{quantile="0.9"}',
    ['chain_native_vote_delay_seconds{quantile="0.9"} is chain_native_vote_delay_seconds{percentile="90"} now'],
  ],
  ['a value that it must not have', 'chain_staking_pending_tokens{delegator!="own"}', []],
  ['the same value of another metric', 'chain_consensus_lines_total{event="vote_sent"}', []],
])('a metric in %s', (_, text, expected) => {
  expect(metrics(text)).toEqual(expected)
})
