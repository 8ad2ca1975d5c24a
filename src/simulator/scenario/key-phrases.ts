import { oneOf } from './arguments.ts'
import { befall, FATES, KEY_FILES, type KeyFileName } from './keys.ts'
import { type Phrase, phrase } from './phrase.ts'

const MEANS: Readonly<Record<KeyFileName, string>> = {
  secp: 'the file of the secp keystore is gone, empty, cut off, readable for all, renamed and written anew, or as it was',
  bls: 'the same, of the BLS keystore',
  password: 'the same, of the environment file, which holds the password of both',
  'secp-backup': 'the same, of the backup of the secp key; cut off is what a failed recover leaves',
  'bls-backup': 'the same, of the backup of the BLS key',
  'password-backup': 'the same, of the backup of the password',
}

export const keyPhrases: readonly Phrase[] = KEY_FILES.map((name) =>
  phrase({ subject: 'key', verb: name, means: MEANS[name] }, oneOf(FATES), (fate) => {
    return (condition, atMs) => ({
      ...condition,
      keys: { ...condition.keys, [name]: befall(condition.keys[name], fate, atMs) },
    })
  }),
)
