import type { Plan, Restored } from '../../keys/restore.ts'
import type { Style } from '../page/style.ts'
import { page } from './page.ts'

/** What would be done with one key, for who is asked. */
export const renderPlan = (plan: Plan, style: Style): string => {
  const { type, source, keystore } = plan
  return page(`${type}: ${keystore}`, style, [
    ['from', `${source.file}${source.isEncrypted ? ' (decrypted)' : ''}`],
    ['public key', source.key.publicKey ?? 'not in the backup; shown when the keystore is made'],
    ['now', nowOf(plan)],
  ])
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
