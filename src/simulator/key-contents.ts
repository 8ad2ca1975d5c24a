import type { Validator } from './chain/validators.ts'
import { eraOf } from './keystore/keystore-era.ts'
import { sealKeystore } from './keystore/keystore-file.ts'
import { keyPairOf, type KeyType } from './keystore/key-pair.ts'
import type { KeyFile, KeyFileName } from './scenario/keys.ts'

/** Salt and IV are fixed, so that a keystore has the same content in every run. */
const letters = (count: number): Buffer =>
  Buffer.from('simulated, not a key; '.repeat(5)).subarray(0, count)

const PASSWORD = 'simulated-not-a-password'

type Keys = Validator['sealed']

/** A keystore that the simulated tool can open with the password. */
const keystore = (keys: Keys, type: KeyType): string =>
  sealKeystore({ ...keys[type], password: PASSWORD, salt: letters(32), iv: letters(16) })

/** What `recover` prints. */
const backup = (keys: Keys, type: KeyType): string =>
  [
    ERA.beginning,
    ...ERA.recovered(keys[type]),
    ...ERA.keys(keyPairOf(keys[type], type), type),
    '',
  ].join('\n')

const ERA = eraOf('0.16.1')

/** Functions, because a keystore takes milliseconds. */
type Contents = Readonly<Record<KeyFileName, (keys: Keys) => string>>

const WHOLE: Contents = {
  secp: (keys) => keystore(keys, 'secp'),
  bls: (keys) => keystore(keys, 'bls'),
  password: () => `# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD='${PASSWORD}'\n`,
  'secp-backup': (keys) => backup(keys, 'secp'),
  'bls-backup': (keys) => backup(keys, 'bls'),
  'password-backup': () => `Keystore password: ${PASSWORD}\n`,
}

/** `recover` says what it does before it asks whether it can; the others end where the disk was full. */
const CUT: Contents = {
  secp: (keys) => WHOLE.secp(keys).slice(0, 100),
  bls: (keys) => WHOLE.bls(keys).slice(0, 100),
  password: () => '# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD=\n',
  'secp-backup': () => `${ERA.beginning}\n`,
  'bls-backup': () => `${ERA.beginning}\n`,
  'password-backup': () => 'Keystore password: \n',
}

/** Undefined where there is no file. */
export const contentOf = (
  keys: Keys,
  name: KeyFileName,
  content: KeyFile['content'],
): string | undefined => {
  switch (content) {
    case 'whole':
      return WHOLE[name](keys)
    case 'cut':
      return CUT[name](keys)
    case 'empty':
      return ''
    case 'gone':
      return undefined
  }
}
