import { armor, Decrypter, Encrypter } from 'age-encryption'
import { SourceError } from '../core/errors.ts'
import { Secret } from '../core/secret.ts'

/** Encrypted files that `age` (https://age-encryption.org/v1) opens without us. */
export const isAge = (bytes: Uint8Array): boolean => {
  const beginning = Buffer.from(bytes.subarray(0, 64)).toString('latin1').trimStart()
  return beginning.startsWith('age-encryption.org/') || beginning.startsWith(ARMOR)
}

const ARMOR = '-----BEGIN AGE ENCRYPTED FILE-----'

/** Throws a SourceError that names the recipient which is none. */
export const encryptFor = async (
  recipients: readonly string[],
  text: Secret,
  options: { readonly isArmored: boolean },
): Promise<Uint8Array | string> => {
  const encrypter = new Encrypter()
  for (const recipient of recipients) {
    try {
      encrypter.addRecipient(recipient)
    } catch (error) {
      const isIdentity = recipient.toUpperCase().startsWith('AGE-SECRET-KEY-')
      throw new SourceError(
        {
          doing: isIdentity ? 'encrypt for a recipient' : `encrypt for ${recipient}`,
          happened: isIdentity
            ? 'it is a secret identity, not a recipient'
            : 'it is no recipient of age',
          advice: 'a recipient begins with age1: `age-keygen -y KEYFILE` prints it',
        },
        { cause: isIdentity ? undefined : error },
      )
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
      advice: `decrypt it yourself: \`age -d ${path}\`, and restore from what comes out`,
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
        'name the identity whose recipient it was made for; with a passphrase or a plugin, decrypt it with `age -d` yourself',
    })
  }
}

const binary = (bytes: Uint8Array): Uint8Array => {
  const text = Buffer.from(bytes).toString('latin1').trim()
  return text.startsWith(ARMOR) ? armor.decode(text) : bytes
}
