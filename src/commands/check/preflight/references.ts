import type { Finding } from '../../../health/finding.ts'
import { joinList } from '../../../health/format.ts'
import { finding, type PreflightCheck } from './context.ts'

/** The references, which are needed to see that the node is behind the network. */
export const references: PreflightCheck = {
  name: 'the references',
  run: ({ config, snapshot }) => {
    const configured = config.references.length
    if (configured === 0) return Promise.resolve([none])
    const { references: all = [], agreeing = null } = snapshot.readings.reference ?? {}
    if (agreeing === null) return Promise.resolve([])
    const up = all.filter((one) => one.up === true)
    const hasQuorum = agreeing > Math.floor(configured / 2)
    const evidence = all.map(({ name, state }) => `${name}: ${state ?? 'unknown'}.`)
    const otherChain = all.filter(({ state }) => state === 'another chain')
    return Promise.resolve([
      ...otherChain.map(({ name }) => onOtherChain(name ?? 'unknown')),
      ...(hasQuorum ? [] : [noQuorum({ configured, up: up.length, evidence })]),
      ...(hasQuorum && up.length + otherChain.length < configured
        ? [
            unreachable(
              all.filter((one) => !one.up && !otherChain.includes(one)),
              evidence,
            ),
          ]
        : []),
    ])
  },
}

const FIX = 'Correct `references:` in the configuration, and restart the agent.'

const none: Finding = finding('references', 'info', {
  says: 'no reference is configured: only its own clock shows that the node is behind',
  advice: [
    'Set three references of different operators in `references:` of the configuration: two still agree when one is down.',
  ],
})

const onOtherChain = (name: string): Finding =>
  finding('ChainReferencesUnknown', 'warning', {
    says: `the reference ${name} is on another chain than the node`,
    evidence: ['Its chain ID is not that of the node.'],
    advice: [FIX],
  })

const noQuorum = (seen: {
  readonly configured: number
  readonly up: number
  readonly evidence: readonly string[]
}): Finding => {
  const { configured, up, evidence } = seen
  const isMajority = up > Math.floor(configured / 2)
  return finding('ChainReferencesUnknown', 'warning', {
    says: isMajority
      ? 'the references disagree: the height of the network is unknown'
      : `${up} of ${configured} references ${up === 1 ? 'answers' : 'answer'}: the height of the network is unknown`,
    evidence,
    advice: [
      ...(isMajority ? ['Compare their heights with a public explorer of the chain.'] : []),
      ...(up === 0 ? ['Check whether the host has network access: `ip route get 1.1.1.1`.'] : []),
      FIX,
    ],
  })
}

const unreachable = (missing: readonly { readonly name: string | null }[], evidence: readonly string[]) =>
  finding('references', 'info', {
    says: `${joinList(missing.map(({ name }) => name ?? 'unknown'))} ${missing.length === 1 ? 'does' : 'do'} not answer; the other references do`,
    evidence,
    advice: [FIX],
  })
