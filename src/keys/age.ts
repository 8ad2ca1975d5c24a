import { armor, Decrypter, Encrypter } from 'age-encryption'
import { SourceError } from '../core/errors.ts'
import { Secret } from '../core/redaction/secret.ts'

/** Whether a file is in the format of `age` (https://age-encryption.org/v1), which other programs can decrypt. */
export const isAge = (bytes: Uint8Array): boolean => {
  const beginning = Buffer.from(bytes.subarray(0, 64)).toString('latin1').trimStart()
  return beginning.startsWith('age-encryption.org/') || beginning.startsWith(ARMOR)
}

const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----'

/** `place` is the option or the line of the file: errors name it, since the text itself may be a secret. */
export interface Recipient {
  readonly text: string
  readonly place: string
}

/**
 * Recipients printed in public documentation. Operators copy them from there, and then only the authors of those pages,
 * or every reader of them, can decrypt the file.
 */
const PUBLIC_EXAMPLES: ReadonlyMap<string, string> = new Map([
  // https://github.com/FiloSottile/age, README.md
  ['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p', "age's README"],
  ['age1lggyhqrw2nlhcxprm67z43rta597azn8gknawjehu9d9dl0jq3yqqvfafg', "age's README"],
  ['age1yhm4gctwfmrpz87tdslm550wrx6m79y9f2hdzt0lndjnehwj0ukqrjpyx5', "age's README"],
  // The same, doc/age.1.ronn and doc/age-keygen.1.ronn: printed with their identities.
  ['age1gde3ncmahlqd9gg50tanl99r960llztrhfapnmx853s4tjum03uqfssgdh', 'the man page age(1)'],
  ['age1lvyvwawkr0mcnnnncaghunadrqkmuf9e6507x9y920xxpp866cnql7dp2z', 'the man page age-keygen(1)'],
  // The same, age_test.go: ExampleEncrypt. The repository contains its identity.
  ['age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm', "age's Go package"],
  // https://github.com/getsops/sops, README.rst
  ['age1yt3tfqlfrwdwx0z0ynwplcr6qxcxfaqycuprpmy89nr83ltx74tqdpszlw', "sops' README"],
  ['age1s3cqcks5genc6ru8chl0hkkd04zmxvczsvdxq99ekffe4gmvjpzsedk23c', "sops' README"],
  ['age1qe5lxzzeppw5k79vxn3872272sgy224g2nzqlzy3uljs84say3yqgvd0sw', "sops' README"],
])

export type Encrypt = (text: Secret, isArmored: boolean) => Promise<Uint8Array | string>

/** Throws a SourceError that names the place of an invalid recipient but does not contain its text. */
export const createEncrypt = (recipients: readonly Recipient[]): Encrypt => {
  const encrypter = new Encrypter()
  for (const { text, place } of recipients) {
    const example = PUBLIC_EXAMPLES.get(text.toLowerCase())
    if (example !== undefined) {
      const happened = `it is the public example of ${example}; you do not have its identity`
      throw rejectRecipient(place, happened)
    }
    try {
      encrypter.addRecipient(text)
    } catch {
      const isIdentity = text.toUpperCase().startsWith('AGE-SECRET-KEY-')
      const happened = isIdentity
        ? 'it is a secret identity, not a recipient'
        : 'it is not a valid age recipient (age1...); SSH keys and plugins are not supported'
      throw rejectRecipient(place, happened)
    }
  }
  return async (text, isArmored) => {
    const bytes = await encrypter.encrypt(text.reveal())
    return isArmored ? armor.encode(bytes) : bytes
  }
}

const rejectRecipient = (place: string, happened: string): SourceError =>
  new SourceError({
    doing: `encrypt for the recipient in ${place}`,
    happened,
    advice:
      'create a key pair on the host of the vault: `age-keygen -o KEYFILE` prints its recipient, `age-keygen -y KEYFILE` prints it again',
  })

/** `identities` is the content of a file from `age-keygen`. Throws a SourceError without content of either file. */
export const decryptWith = async (path: string, bytes: Uint8Array, identities: Secret): Promise<Secret> => {
  const words = identities
    .reveal()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('AGE-SECRET-KEY-'))
  const failure = (happened: string): SourceError =>
    new SourceError({
      doing: `decrypt ${path}`,
      happened,
      advice:
        'pass the identity of its recipient; if it needs a passphrase or a plugin, decrypt it with age and pass a pipe: --from <(age -d FILE)',
    })
  if (words.length === 0) throw failure('the identity file has no line that begins with AGE-SECRET-KEY-')
  const decrypter = new Decrypter()
  try {
    for (const word of words) decrypter.addIdentity(word)
    return new Secret(await decrypter.decrypt(binary(bytes), 'text'))
  } catch {
    // The message of the library may quote a line of either file.
    throw failure('none of the identities can decrypt it, or it is damaged')
  }
}

const binary = (bytes: Uint8Array): Uint8Array => {
  const text = Buffer.from(bytes).toString('latin1').trim()
  return text.startsWith(ARMOR) ? armor.decode(text) : bytes
}
