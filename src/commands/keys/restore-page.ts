import { type Comparison, describeMismatch } from '../../keys/identity.ts'
import { type Plan, publicKeyOf, type Restored } from '../../keys/restore.ts'
import type { Style } from '../../cli/terminal/style.ts'
import { page } from './page.ts'

export interface Compared {
  readonly plan: Plan
  /** The public key of the backup, compared with what else reports the key of this node. */
  readonly identity: readonly Comparison[]
}

/** What would be done with one key, before the operator confirms it. */
export const renderPlan = ({ plan, identity }: Compared, style: Style): string => {
  const { type, source, keystore } = plan
  return page(`${type}: ${keystore}`, style, [
    ['from', `${source.file}${source.isEncrypted ? ' (decrypted)' : ''}`],
    ['public key', source.key.publicKey ?? 'not in the backup; shown when the keystore is made'],
    ['now', nowOf(plan)],
    ...identity.map((one) => ['compared', identityOf(one, publicKeyOf(plan))] as const),
  ])
}

const identityOf = (comparison: Comparison, publicKey: string | null): string => {
  const { source, isSame, whyUnknown } = comparison
  if (isSame === false) return `MISMATCH: ${describeMismatch(comparison, publicKey)}`
  if (isSame === true) return `the same as ${source}`
  return `not compared with ${source}: ${whyUnknown ?? 'it is unknown'}`
}

const nowOf = ({ before, held, whyUnknown }: Plan): string => {
  if (before === undefined) return 'no keystore'
  if (held === null) return `a keystore that cannot be opened: ${whyUnknown ?? ''}`
  if (held.isSame) return 'a keystore with the same key'
  return `a keystore with ANOTHER key, ${held.publicKey ?? 'which tells no public key'}`
}

/** What was done with one key. */
export const renderRestored = (one: Restored, style: Style): string =>
  page(`${style.paint('good', style.sign('good'))} ${one.type}: ${one.keystore}, proven`, style, [
    ['public key', one.publicKey ?? 'the tool did not tell it'],
    ...(one.kept === null ? [] : [['before it', one.kept] as const]),
    ...one.removed.map(
      (file) => ['removed', `${file}, which an interrupted run had left`] as const,
    ),
  ])
