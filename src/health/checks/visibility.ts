import { newestBlock } from '../facts.ts'
import { type Check, type Finding, finding } from '../finding.ts'
import { joinList } from '../format.ts'
import type { CollectorState } from '../snapshot.ts'

/** There is no node on this host: systemd knows none of its units and its RPC port does not answer. */
export const node: Check = ({ known, prefix }) => {
  const expected = known
    .series('chain_service_expected')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels['service'] ?? '')
  const isMissing = (service: string): boolean =>
    known.value('chain_service_state', { service, state: 'not-found' }) === 1
  if (known.value('chain_rpc_up') === 1 || newestBlock(known)) return []
  if (!expected.every(isMissing)) return []
  // If systemd is unreachable, only an RPC that does not answer suggests that there is no node.
  if (expected.length === 0 && known.value('chain_rpc_up') !== 0) return []
  return [
    finding(
      'ChainServiceMissing',
      {
        severity: 'unknown',
        says: 'there is no node on this host, or none that this user can see',
      },
      {
        evidence: [
          expected.length === 0
            ? 'systemd did not list its units.'
            : `systemd knows none of the units ${expected.map((one) => `${prefix ?? 'chain'}-${one}`).join(', ')}.`,
          "The address of the node's RPC does not answer.",
        ],
        advice: [
          "Run it on the node's own host, where systemd is process 1.",
          'If the names of the units have another prefix, set it: `--prefix PREFIX`.',
        ],
      },
    ),
  ]
}

/** Collectors that fail. One that is disabled, or whose first attempt has not ended, does not fail. */
export const collectors: Check = ({ collectors: all }) => {
  const failing = all.filter(({ enabled, up }) => enabled && up === false)
  const journal = failing.filter(({ error }) => error?.code === 'journal not permitted')
  const others = failing.filter((one) => !journal.includes(one))
  return [...withoutJournal(journal), ...failed(others)]
}

const withoutJournal = (failing: readonly CollectorState[]): readonly Finding[] =>
  failing.length === 0
    ? []
    : [
        finding(
          'ChainCollectorDown',
          {
            severity: 'warning',
            says: 'this user may not read the journal: the logs of the node are not seen',
          },
          {
            evidence: [`Collectors without data: ${joinList(failing.map(({ name }) => name))}.`],
            advice: [
              'Add the user to the group: `usermod -aG systemd-journal USER`.',
              'The group takes effect after a new login; for a unit, after its restart.',
            ],
          },
        ),
      ]

const failed = (failing: readonly CollectorState[]): readonly Finding[] =>
  failing.length === 0
    ? []
    : [
        finding(
          'ChainCollectorDown',
          {
            severity: 'warning',
            says: `${joinList(failing.map(({ name }) => name))} could not be read`,
          },
          {
            evidence: failing.map(
              ({ name, error }) => `${name}: ${error?.message.split('\n')[0] ?? 'no answer in time'}`,
            ),
            advice: failing.flatMap(({ error }) => {
              const { advice = null } = error ?? {}
              return advice === null ? [] : [`${advice[0]?.toUpperCase() ?? ''}${advice.slice(1)}.`]
            }),
          },
        ),
      ]
