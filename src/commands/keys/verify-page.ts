import { type Comparison, describeMismatch } from '../../keys/identity.ts'
import type { Verified } from '../../keys/verify.ts'
import { wrap } from '../../cli/terminal/layout.ts'
import type { Style, Tone } from '../../cli/terminal/style.ts'
import { LEGACY } from './page.ts'

export interface Judged extends Verified {
  /** Its public key, compared with what else reports the key of this node. */
  readonly identity: readonly Comparison[]
}

/** Whether the backup is one that can be relied on. */
export const isWell = (one: Judged, mayRecover: boolean): boolean =>
  !one.isLegacy &&
  one.identity.every(({ isSame }) => isSame !== false) &&
  [...one.copies, ...one.unfinished].every(({ exposure }) => exposure === null) &&
  (one.isAway ||
    (one.problem === null && one.exposure === null && (!mayRecover || one.isSame === true)))

interface Options {
  readonly style: Style
  readonly mayRecover: boolean
}

type Line = readonly [tone: Tone, text: string]

/** The verdict on one backup first, then what it rests on. */
export const renderVerified = (one: Judged, { style, mayRecover }: Options): string => {
  const tone = isWell(one, mayRecover) ? 'good' : 'bad'
  const good = one.isAway ? 'the backup is off this host' : 'the backup is good'
  const head = `${one.key}: ${tone === 'good' ? good : 'the backup is NOT good'}`
  const lines: readonly Line[] = [
    wholenessOf(one),
    ...privacyOf(one),
    samenessOf(one, mayRecover),
    ...(one.publicKey === null ? [] : [['quiet', `public key ${one.publicKey}`] as const]),
    ...one.identity.map((comparison) => identityOf(comparison, one.publicKey)),
    ...(one.isLegacy ? [['bad', LEGACY] as const] : []),
    one.offNode === null
      ? ['notice', 'no copy off this host is known: chain-agent keys export, then keys off-node']
      : [
          'good',
          `a copy off this host, as noted on ${one.offNode.at.slice(0, 10)}: ${one.offNode.where}`,
        ],
    ...copiesOf(one),
    ...one.unfinished.map(
      ({ file, isWhole }) =>
        [
          'notice',
          `an interrupted run left ${file}, ${isWhole ? 'with a whole secret' : 'with no whole backup in it'}; keys backup or keys restore clears it away`,
        ] as const,
    ),
  ]
  const page = lines.map(([sign, text]) => {
    const [first = '', ...rest] = wrap(style.plain(text), style, '    ')
    const mark = `  ${style.paint(sign, style.sign(sign))} ${first.trimStart()}`
    return [mark, ...rest].map((line) => `${line}\n`).join('')
  })
  return `${style.paint(tone, style.sign(tone))} ${style.paint('strong', head)}\n${page.join('')}`
}

const wholenessOf = ({ problem, backup, isAway }: Verified): Line => {
  if (problem === null) return ['good', `whole: ${backup}`]
  return isAway ? ['quiet', `not here: ${backup}`] : ['bad', `not whole: ${problem}`]
}

const privacyOf = ({ problem, exposure, backup }: Verified): readonly Line[] => {
  if (exposure !== null) {
    return [
      [
        'bad',
        `not private: ${exposure}; ${exposure.startsWith('mode') ? `chmod 600 ${backup}` : 'mend that'}, and if others could read it, the key is no longer yours alone`,
      ],
    ]
  }
  return problem === null ? [['good', 'private: only its owner may read it']] : []
}

const samenessOf = ({ isSame, whyUnknown, keystore }: Verified, mayRecover: boolean): Line => {
  if (isSame === true) return ['good', `the same key as in ${keystore}`]
  if (isSame === false) return ['bad', `ANOTHER key than in ${keystore}`]
  const why = whyUnknown ?? 'there is nothing to compare'
  return [mayRecover ? 'unknown' : 'quiet', `not compared with the keystore: ${why}`]
}

const identityOf = (comparison: Comparison, publicKey: string | null): Line => {
  const { source, isSame, whyUnknown } = comparison
  if (isSame === true) return ['good', `the same as ${source}`]
  if (isSame === false) return ['bad', describeMismatch(comparison, publicKey)]
  return ['quiet', `not compared with ${source}: ${whyUnknown ?? 'it is unknown'}`]
}

const copiesOf = ({ copies, keystoreCopies }: Verified): readonly Line[] => {
  const exposed = copies.filter(({ exposure }) => exposure !== null)
  const whole = copies.filter(({ isWhole }) => isWhole)
  return [
    ...(copies.length === 0
      ? []
      : [
          [
            'quiet',
            `${copies.length} earlier .bak, ${whole.length} of them whole${newest(whole)}`,
          ] as const,
        ]),
    ...exposed.map(({ file }) => ['bad', `others may read ${file}: chmod 600`] as const),
    ...(keystoreCopies.length === 0
      ? []
      : [
          [
            'quiet',
            `${keystoreCopies.length} earlier keystores, the newest ${keystoreCopies.at(-1) ?? ''}`,
          ] as const,
        ]),
  ]
}

const newest = (whole: Verified['copies']): string => {
  const last = whole.at(-1)
  return last === undefined ? '' : `, the newest ${last.file}`
}
