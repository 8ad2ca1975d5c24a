import type { KeyFile, KeyFileName } from './scenario/keys.ts'

/** Hex digits that say in plain letters what they are. */
const digits = (count: number): string =>
  Buffer.from('simulated, not a key; '.repeat(5)).toString('hex').slice(0, count)

const PASSWORD = 'simulated-not-a-password'

const keystore = `${JSON.stringify({
  version: 2,
  ciphertext: digits(64),
  checksum: digits(64),
  cipher: { cipher_function: 'AES_128_CTR', params: { iv: digits(32) } },
  kdf: {
    kdf_name: 'scrypt',
    params: { salt: digits(64), key_len: 32, n: 262_144, r: 8, p: 1 },
  },
  hash: 'SHA256',
})}\n`

/** What `recover` prints. */
const backup = (type: 'Secp' | 'BLS'): string =>
  [
    'Recovering secret from keystore file...',
    'Keystore version: v2 (Direct IKM)',
    `Keystore secret: ${digits(64)}`,
    `${type} private key: ${digits(64)}`,
    `${type} public key: ${digits(type === 'Secp' ? 66 : 96)}`,
    '',
  ].join('\n')

const WHOLE: Readonly<Record<KeyFileName, string>> = {
  secp: keystore,
  bls: keystore,
  password: `# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD='${PASSWORD}'\n`,
  'secp-backup': backup('Secp'),
  'bls-backup': backup('BLS'),
  'password-backup': `Keystore password: ${PASSWORD}\n`,
}

/** `recover` says what it does before it asks whether it can; the others end where the disk was full. */
const CUT: Readonly<Record<KeyFileName, string>> = {
  secp: keystore.slice(0, 100),
  bls: keystore.slice(0, 100),
  password: '# simulated\nCHAIN=simulated\nKEYSTORE_PASSWORD=\n',
  'secp-backup': 'Recovering secret from keystore file...\n',
  'bls-backup': 'Recovering secret from keystore file...\n',
  'password-backup': 'Keystore password: \n',
}

/** Undefined where there is no file. */
export const contentOf = (name: KeyFileName, content: KeyFile['content']): string | undefined => {
  switch (content) {
    case 'whole':
      return WHOLE[name]
    case 'cut':
      return CUT[name]
    case 'empty':
      return ''
    case 'gone':
      return undefined
  }
}
