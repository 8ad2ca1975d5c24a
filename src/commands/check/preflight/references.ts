import { z } from 'zod'
import type { Finding } from '../../../health/finding.ts'
import { list } from '../../../health/words.ts'
import { finding, type Look } from './visit.ts'

const schema = z.object({
  references: z.array(z.object({ name: z.string(), up: z.boolean(), state: z.string() })),
  agreeing: z.number(),
})

/** The other views of the chain, without which nobody can tell that the node is behind. */
export const references: Look = {
  at: 'the references',
  look: ({ config, picture }) => {
    const configured = config.references.length
    if (configured === 0) return Promise.resolve([none])
    const reading = picture.collectors.find(({ name }) => name === 'reference')?.reading
    const { data } = schema.safeParse(reading)
    if (!data) return Promise.resolve([])
    const { agreeing } = data
    const up = data.references.filter((one) => one.up)
    const hasQuorum = agreeing > Math.floor(configured / 2)
    const evidence = data.references.map(({ name, state }) => `${name}: ${state}.`)
    const strangers = data.references.filter(({ state }) => state === 'another chain')
    return Promise.resolve([
      ...strangers.map(({ name }) => foreign(name)),
      ...(hasQuorum ? [] : [undecided({ configured, up: up.length, evidence })]),
      ...(hasQuorum && up.length + strangers.length < configured
        ? [
            away(
              data.references.filter((one) => !one.up && !strangers.includes(one)),
              evidence,
            ),
          ]
        : []),
    ])
  },
}

const MEND = 'Correct it in `references:` of the configuration, and restart the agent.'

const none: Finding = finding('references', 'info', {
  says: 'no reference is configured: that the node falls behind is seen by its own clock alone',
  advice: [
    'Name three views of the chain by different operators in `references:` of the configuration: two agree when one is down.',
  ],
})

const foreign = (name: string): Finding =>
  finding('ChainReferencesUnknown', 'warning', {
    says: `the reference ${name} is of another chain than the node`,
    evidence: ['Its chain id is not that of the node.'],
    advice: [MEND],
  })

const undecided = (seen: {
  readonly configured: number
  readonly up: number
  readonly evidence: readonly string[]
}): Finding => {
  const { configured, up, evidence } = seen
  const isMajority = up > Math.floor(configured / 2)
  return finding('ChainReferencesUnknown', 'warning', {
    says: isMajority
      ? 'the references disagree: how far the network is, is not known'
      : `${up} of ${configured} references ${up === 1 ? 'answers' : 'answer'}: how far the network is, is not known`,
    evidence,
    advice: [
      ...(isMajority ? ['Compare their heights with a public explorer of the chain.'] : []),
      ...(up === 0 ? ['See whether the host reaches others at all: `ip route get 1.1.1.1`.'] : []),
      MEND,
    ],
  })
}

const away = (missing: readonly { readonly name: string }[], evidence: readonly string[]) =>
  finding('references', 'info', {
    says: `${list(missing.map(({ name }) => name))} ${missing.length === 1 ? 'does' : 'do'} not answer; the other references do`,
    evidence,
    advice: [MEND],
  })
