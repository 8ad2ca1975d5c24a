import { expect, test } from 'vitest'
import { openHost } from '../support/host.ts'

const NO_ANSWER = 'neither systemd nor the RPC of the node answers: the state of the node is unknown.'
const ALL = ['systemctl', 'journalctl', 'rpc', 'reference', 'status', 'mpt', 'native', 'otel']

/** What is only true if a source has answered that there is none. */
const CLAIMS =
  /there is no node|does not know chain-(?:bft|execution|rpc)|none configured|no failures|(?<!whether )the node is behind|RECOVERY: (?:re)?start/i

interface Row {
  readonly name: string
  readonly silent: readonly string[]
  readonly agent?: true
  readonly first: string
  readonly facts: Readonly<Record<string, RegExp>>
}

const LEVEL = /^block [\d,]+, \d s old, level with the network$/
const RUNNING = /^bft, execution, rpc, ledger-tail and otelcol run$/
const KEEPS_UP = 'OK: the node keeps up with the chain.'

const ROWS: readonly Row[] = [
  {
    name: 'systemd',
    silent: ['systemctl'],
    first: 'WARNING: no readings from the collector services.',
    facts: { services: /^unknown$/, chain: LEVEL },
  },
  {
    name: 'the journal',
    silent: ['journalctl'],
    first: 'WARNING: no readings from the collector lifecycle, ledger, consensus, execution and logs.',
    facts: { services: RUNNING, chain: LEVEL },
  },
  {
    name: 'the RPC',
    silent: ['rpc'],
    first: 'WARNING: the RPC of the node does not return a valid answer.',
    facts: { services: RUNNING, chain: /difference to the network unknown$/ },
  },
  {
    name: 'the references',
    silent: ['reference'],
    first: 'WARNING: it is unknown whether the node is behind.',
    facts: { references: /^0 of 2 answer$/, chain: /difference to the network unknown$/ },
  },
  {
    name: 'the status tool',
    silent: ['status'],
    first: 'WARNING: no readings from the collector status.',
    facts: { agent: /^19 of 20 collectors ok$/ },
  },
  {
    name: 'the database tool',
    silent: ['mpt'],
    first: 'WARNING: no readings from the collector storage.',
    // The share is in the log of execution.
    facts: { storage: /^21% of the database used$/ },
  },
  {
    name: 'the metrics',
    silent: ['native', 'otel'],
    first: 'WARNING: otelcol is down, or serves no metrics of consensus to push.',
    facts: { chain: LEVEL },
  },
  {
    name: 'systemd and the RPC',
    silent: ['systemctl', 'rpc'],
    first: 'WARNING: the RPC of the node does not return a valid answer.',
    // From the ledger stream.
    facts: { services: /^unknown$/, chain: /^block [\d,]+, \d s old, difference to the network unknown$/ },
  },
  {
    name: 'systemd, the RPC and the journal',
    silent: ['systemctl', 'rpc', 'journalctl'],
    first: `UNKNOWN: ${NO_ANSWER}`,
    facts: { services: /^unknown$/, chain: /^unknown$/, references: /^2 of 2 answer$/ },
  },
  {
    name: 'everything',
    silent: ALL,
    first: `UNKNOWN: ${NO_ANSWER}`,
    facts: { services: /^unknown$/, chain: /^unknown$/, storage: /^unknown$/, references: /^0 of 2 answer$/ },
  },
  {
    name: 'everything, for 65 s after it was healthy',
    silent: ALL,
    agent: true,
    first: `UNKNOWN: ${NO_ANSWER}`,
    facts: { services: /^unknown$/, chain: /^unknown$/, references: /^no reading: the difference to the network/ },
  },
]

test.each(ROWS)(
  '$name: nothing is stated that no source has answered',
  async ({ silent, agent = false, first, facts }) => {
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
  },
)

test('init does not conclude from silence that there is no node', async () => {
  const silent = new Set(['systemctl'])
  const host = await openHost({ scenario: 'healthy', second: 130, agent: false, silent })
  const { err } = await host.run(['init', '-o', '-'])
  expect(err).toContain('systemd: Could not get a response in time: none within 5s')
  expect(err).not.toContain('has no unit')
})
