import { compareKeys, type Comparison, describeMismatch } from '../../keys/key-context.ts'
import { verify, type VerifyResult } from '../../keys/verify.ts'
import type { Tone } from '../../domain/health.ts'
import { type OutputOptions, printResult } from '../../terminal/output.ts'
import { wrap, type Style } from '../../terminal/style.ts'
import { FOLDER_ADVICE, LEGACY, runKeyCommand, warnOfExposure } from './key-command.ts'
import { KEY_TYPES, type KeyType } from '../../domain/key-paths.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import type { ActionContext } from '../../terminal/io.ts'

interface VerifyOptions extends ConfigOptions, OutputOptions {
  readonly type?: readonly KeyType[]
  readonly filesOnly?: true
}

export const verifyBackups = async ({ io, exit, options }: ActionContext<VerifyOptions>): Promise<void> => {
  await runKeyCommand({ io, exit, options }, async (session, progress) => {
    const mayRecover = options.filesOnly !== true
    if (mayRecover) warnOfExposure(io, session, 'the keystore password')
    const known = await session.readKnownKeys({ mayRun: mayRecover })
    const found: VerifiedBackup[] = []
    for (const key of options.type ?? KEY_TYPES) {
      const one = await verify(session.context, { key, mayRecover }, io.signal)
      found.push({ ...one, identity: compareKeys(known[key], one.publicKey) })
    }
    progress.end()
    const judged = found.map((one) => ({ isWell: isReliable(one, mayRecover), ...one }))
    printResult(
      { io, options },
      {
        document: () => judged,
        lines: (style) => found.flatMap((one) => renderVerified(one, { style, mayRecover })),
      },
    )
    exit(judged.every((one) => one.isWell) ? 0 : 1)
  })
}

interface VerifiedBackup extends VerifyResult {
  /** Its public key, compared with what else reports the key of this node. */
  readonly identity: readonly Comparison[]
}

/** Whether the key can be restored from this backup, only its owner can read it, and no other user can remove it. */
const isReliable = (one: VerifiedBackup, mayRecover: boolean): boolean =>
  !one.isLegacy &&
  one.identity.every(({ isSame }) => isSame !== false) &&
  [...one.copies, ...one.unfinished].every(({ exposure }) => exposure === null) &&
  (one.isAway ||
    (one.problem === null && one.exposure === null && one.folderRisk === null && (!mayRecover || one.isSame === true)))

type Line = readonly [tone: Tone, text: string]

/** The status of one backup, then the checks behind it. */
const renderVerified = (
  one: VerifiedBackup,
  { style, mayRecover }: { readonly style: Style; readonly mayRecover: boolean },
): readonly string[] => {
  const tone = isReliable(one, mayRecover) ? 'good' : 'bad'
  const good = one.isAway ? 'the backup is off this host' : 'the backup is ok'
  const head = `${one.key}: ${tone === 'good' ? good : 'the backup is NOT ok'}`
  const lines: readonly Line[] = [
    integrityLine(one),
    ...permissionLines(one),
    ...(one.folderRisk === null ? [] : [['bad', `removable: ${one.folderRisk}; ${FOLDER_ADVICE}`] as const]),
    keystoreLine(one, mayRecover),
    ...(one.publicKey === null ? [] : [['quiet', `public key ${one.publicKey}`] as const]),
    ...one.identity.map((comparison) => identityLine(comparison, one.publicKey)),
    ...(one.isLegacy ? [['bad', LEGACY] as const] : []),
    one.offNode === null
      ? ['notice', 'no copy off this host is recorded: chain-agent keys export, then keys off-node']
      : ['good', `a copy off this host, recorded on ${one.offNode.at.slice(0, 10)}: ${one.offNode.where}`],
    ...copyLines(one),
    ...one.unfinished.map(
      ({ file, isWhole }) =>
        [
          'notice',
          `an interrupted run left ${file}, ${isWhole ? 'which contains a complete secret' : 'which contains no complete backup'}; keys backup or keys restore removes it`,
        ] as const,
    ),
  ]
  return [
    `${style.paint(tone, style.sign(tone))} ${style.paint('strong', head)}`,
    ...lines.flatMap(([sign, text]) => {
      const [first = '', ...rest] = wrap(text, style, '    ')
      return [`  ${style.paint(sign, style.sign(sign))} ${first.trimStart()}`, ...rest]
    }),
  ]
}

const integrityLine = ({ problem, backup, isAway }: VerifyResult): Line => {
  if (problem === null) return ['good', `intact: ${backup}`]
  return isAway ? ['quiet', `not on this host: ${backup}`] : ['bad', `not intact: ${problem}`]
}

const permissionLines = ({ problem, exposure, backup }: VerifyResult): readonly Line[] => {
  if (exposure !== null) {
    return [
      [
        'bad',
        `exposed: ${exposure}; ${exposure.startsWith('mode') ? `chmod 600 ${backup}` : 'fix that'}. If other users could read it, treat the key as compromised`,
      ],
    ]
  }
  return problem === null ? [['good', 'private: only its owner can read it']] : []
}

const keystoreLine = ({ isSame, whyUnknown, keystore }: VerifyResult, mayRecover: boolean): Line => {
  if (isSame === true) return ['good', `the same key as in ${keystore}`]
  if (isSame === false) return ['bad', `ANOTHER key than in ${keystore}`]
  const why = whyUnknown ?? 'there is nothing to compare'
  return [mayRecover ? 'unknown' : 'quiet', `not compared with the keystore: ${why}`]
}

const identityLine = (comparison: Comparison, publicKey: string | null): Line => {
  const { source, isSame, whyUnknown } = comparison
  if (isSame === true) return ['good', `the same as ${source}`]
  if (isSame === false) return ['bad', describeMismatch(comparison, publicKey)]
  return ['quiet', `not compared with ${source}: ${whyUnknown ?? 'it is unknown'}`]
}

const copyLines = ({ copies, keystoreCopies }: VerifyResult): readonly Line[] => {
  const exposed = copies.filter(({ exposure }) => exposure !== null)
  const whole = copies.filter(({ isWhole }) => isWhole)
  return [
    ...(copies.length === 0
      ? []
      : [['quiet', `${copies.length} earlier .bak, ${whole.length} of them intact${newest(whole)}`] as const]),
    ...exposed.map(({ file }) => ['bad', `other users can read ${file}: chmod 600`] as const),
    ...(keystoreCopies.length === 0
      ? []
      : [['quiet', `${keystoreCopies.length} earlier keystores, newest ${keystoreCopies.at(-1) ?? ''}`] as const]),
  ]
}

const newest = (whole: VerifyResult['copies']): string => {
  const last = whole.at(-1)
  return last === undefined ? '' : `, newest ${last.file}`
}
