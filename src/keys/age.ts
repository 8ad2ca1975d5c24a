import { armor, Decrypter, Encrypter } from 'age-encryption'
import { SourceError } from '../core/errors.ts'
import { Secret } from '../core/secret.ts'

/** Encrypted files that `age` (https://age-encryption.org/v1) opens without us. */
export const isAge = (bytes: Uint8Array): boolean => {
  const beginning = Buffer.from(bytes.subarray(0, 64)).toString('latin1').trimStart()
  return beginning.startsWith('age-encryption.org/') || beginning.startsWith(ARMOR)
}

const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----'

/** For whom, and where that was said: that alone is shown where it is none. */
export interface Recipient {
  readonly text: string
  readonly place: string
}

/** Throws a SourceError that says where the recipient stands which is none, and not what stands there. */
export const encryptFor = async (
  recipients: readonly Recipient[],
  text: Secret,
  options: { readonly isArmored: boolean },
): Promise<Uint8Array | string> => {
  const encrypter = new Encrypter()
  for (const { text: recipient, place } of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch {
      const isIdentity = recipient.toUpperCase().startsWith('AGE-SECRET-KEY-')
      throw new SourceError({
        doing: `encrypt for the recipient in ${place}`,
        happened: isIdentity
          ? 'it is a secret identity'
          : 'it is no recipient that begins with age1',
        advice:
          '`age-keygen -y KEYFILE` prints the recipient; keys of ssh and plugins only age itself takes',
      })
    }
  }
  const bytes = await encrypter.encrypt(text.reveal())
  return options.isArmored ? armor.encode(bytes) : bytes
}

/** `identities`: the file that `age-keygen` writes. Throws a SourceError that shows nothing of either. */
export const decryptWith = async (
  { path, bytes }: { readonly path: string; readonly bytes: Uint8Array },
  identities: Secret,
): Promise<Secret> => {
  const doing = `decrypt ${path}`
  const words = identities
    .reveal()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line.startsWith('AGE-SECRET-KEY-'))
  if (words.length === 0) {
    throw new SourceError({
      doing,
      happened: 'the identity file holds no line that begins with AGE-SECRET-KEY-',
      advice: `decrypt it yourself, into a pipe: --from <(age -d ${path})`,
    })
  }
  const decrypter = new Decrypter()
  try {
    for (const word of words) decrypter.addIdentity(word)
    return new Secret(await decrypter.decrypt(binary(bytes), 'text'))
  } catch {
    // The library's own words may quote a line of either file.
    throw new SourceError({
      doing,
      happened: 'none of the identities opens it, or it is damaged',
      advice:
        'name the identity whose recipient it was made for; with a passphrase or a plugin, decrypt it yourself, into a pipe: --from <(age -d FILE)',
    })
  }
}

const binary = (bytes: Uint8Array): Uint8Array => {
  const text = Buffer.from(bytes).toString('latin1').trim()
  return text.startsWith(ARMOR) ? armor.decode(text) : bytes
}
