import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

const NO_ANSWER = 'UNKNOWN: neither systemd nor the RPC of the node answers: the state of the node is unknown.'
const ALL = ['systemctl', 'journalctl', 'rpc', 'reference', 'status', 'mpt', 'native', 'otel']

/** What is only true if a source has answered that there is none. */
const CLAIMS =
  /there is no node|does not know chain-(?:bft|execution|rpc)|none configured|no failures|(?<!whether )the node is behind|RECOVERY: (?:re)?start/i

/** The sources that do not answer, the first line of `check`, facts of it, and whether an agent runs. */
type Row = readonly [string, readonly string[], string, Readonly<Record<string, RegExp>>, true?]

const NO_RPC = 'WARNING: the RPC of the node does not return a valid answer.'
const NO_JOURNAL = 'WARNING: no readings from the collector lifecycle, ledger, consensus, execution and logs.'
const NO_MAJORITY = 'WARNING: it is unknown whether the node is behind.'
const NO_STATUS = 'WARNING: no readings from the collector status.'
const NO_REPORT = 'WARNING: no readings from the collector storage.'
const NO_METRICS = 'WARNING: otelcol is down, or serves no metrics of consensus to push.'
const KEEPS_UP = 'OK: the node keeps up with the chain.'

const UNKNOWN = /^unknown$/
/** By the status report. */
const REPORTED = /^bft running, execution running, rpc running, otelcol running$/
const LEVEL = /^[\d,]+, 0 blocks behind, block of \d s ago$/
const BY_LEDGER = /^[\d,]+, \d+ blocks? behind, block of \d s ago$/
const RUNNING = /^running: bft, execution, rpc, ledger-tail, otelcol$/
/** The distance by the report of the database tool. */
const NO_HEIGHT = /^own height unknown, the network is at [\d,]+, \d+ blocks? behind$/
const NO_REFERENCE = /^(?:[\d,]+|own height unknown), difference unknown, 0 of 2 references agree/

const ROWS: readonly Row[] = [
  ['systemd', ['systemctl'], 'WARNING: no readings from the collector services.', { services: REPORTED, chain: LEVEL }],
  ['the journal', ['journalctl'], NO_JOURNAL, { services: RUNNING, chain: LEVEL }],
  ['the RPC', ['rpc'], NO_RPC, { services: RUNNING, chain: BY_LEDGER }],
  ['the references', ['reference'], NO_MAJORITY, { chain: NO_REFERENCE }],
  ['the status tool', ['status'], NO_STATUS, { agent: / (\d+) of (?!\1 )\d+ collectors ok; failing: status$/ }],
  // The share is in the log of execution.
  ['the database tool', ['mpt'], NO_REPORT, { storage: /^21\.\d+% used$/ }],
  ['the metrics', ['native', 'otel'], NO_METRICS, { chain: LEVEL }],
  ['systemd and the RPC', ['systemctl', 'rpc'], NO_RPC, { services: REPORTED, chain: BY_LEDGER }],
  [
    'systemd, the RPC and the journal',
    ['systemctl', 'rpc', 'journalctl'],
    NO_ANSWER,
    { services: REPORTED, chain: NO_HEIGHT },
  ],
  ['everything', ALL, NO_ANSWER, { services: UNKNOWN, chain: NO_REFERENCE, storage: UNKNOWN }],
  ['everything, for 65 s after it was healthy', ALL, NO_ANSWER, { services: REPORTED, chain: UNKNOWN }, true],
]

test.for(ROWS)('%s: nothing is stated that no source has answered', async ([, silent, first, facts, agent = false]) => {
  const unanswered = new Set(agent ? [] : silent)
  const host = await openHost({ scenario: 'healthy', second: 130, agent, silent: unanswered })
  if (agent) {
    // What was read is valid until the next reading is overdue.
    for (const name of silent) unanswered.add(name)
    await host.pass(5)
    expect((await host.run(['check'])).out.split('\n')[0]).toBe(KEEPS_UP)
    for (let passed = 5; passed < 65; passed += 5) await host.pass(5)
  }
  const { out } = await host.run(['check'])
  expect(out.split('\n')[0]).toBe(first)
  for (const [name, text] of Object.entries(facts)) {
    const [, value] = new RegExp(String.raw`^ {2}${name} +(.*)$`, 'm').exec(out) ?? []
    expect(value).toMatch(text)
  }
  for (const command of ['check', 'status', 'recover', 'restart-window', 'monlog', 'duties']) {
    const output = await host.run([command])
    expect(`${output.out}${output.err}`).not.toMatch(CLAIMS)
  }
})

test('init does not conclude from silence that there is no node', async () => {
  const silent = new Set(['systemctl'])
  const host = await openHost({ scenario: 'healthy', second: 130, agent: false, silent })
  const { err } = await host.run(['init', '-o', '-'])
  expect(err).toContain('systemd: Could not get a response in time: none within 5s')
  expect(err).not.toContain('has no unit')
})
