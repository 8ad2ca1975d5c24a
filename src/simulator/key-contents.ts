import { eraOf } from './keystore/keystore-era.ts'
import { type Sealed, sealKeystore } from './keystore/keystore-file.ts'
import { keyPairOf, type KeyType } from './keystore/key-pair.ts'
import type { KeyFile, KeyFileName } from './scenario/keys.ts'

/** Bytes that say in plain letters what they are. */
const letters = (count: number, of = ''): Buffer =>
  Buffer.from(`simulated, not a key; ${of}`.repeat(5)).subarray(0, count)

const PASSWORD = 'simulated-not-a-password'

/** Real ones, that the node's tool can open with the password; salt and IV are letters, so that all are always the same. */
const keystore = (type: KeyType): string =>
  sealKeystore({ ...sealed(type), password: PASSWORD, salt: letters(32), iv: letters(16) })

const sealed = (type: KeyType): Sealed => ({ secret: letters(32, `${type}; `), version: 2 })

/** What `recover` prints. */
const backup = (type: KeyType): string =>
  [
    ERA.beginning,
    ...ERA.recovered(sealed(type)),
    ...ERA.keys(keyPairOf(sealed(type), type), type),
    '',
  ].join('\n')

const ERA = eraOf('0.16.1')

/** Worked out when they are asked for: a keystore takes milliseconds. */
type Contents = Readonly<Record<KeyFileName, () => string>>

const WHOLE: Contents = {
  secp: () => keystore('secp'),
  bls: () => keystore('bls'),
  password: () => `# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD='${PASSWORD}'\n`,
  'secp-backup': () => backup('secp'),
  'bls-backup': () => backup('bls'),
  'password-backup': () => `Keystore password: ${PASSWORD}\n`,
}

/** `recover` says what it does before it asks whether it can; the others end where the disk was full. */
const CUT: Contents = {
  secp: () => WHOLE.secp().slice(0, 100),
  bls: () => WHOLE.bls().slice(0, 100),
  password: () => '# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD=\n',
  'secp-backup': () => `${ERA.beginning}\n`,
  'bls-backup': () => `${ERA.beginning}\n`,
  'password-backup': () => 'Keystore password: \n',
}

/** Undefined where there is no file. */
export const contentOf = (name: KeyFileName, content: KeyFile['content']): string | undefined => {
  switch (content) {
    case 'whole':
      return WHOLE[name]()
    case 'cut':
      return CUT[name]()
    case 'empty':
      return ''
    case 'gone':
      return undefined
  }
}
