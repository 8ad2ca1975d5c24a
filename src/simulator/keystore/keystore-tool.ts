import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Frame, Tool } from '../tools/tools.ts'
import { keyPairOf } from './key-pair.ts'
import { type KeystoreCall, readKeystoreCall } from './keystore-arguments.ts'
import { eraOf, type KeystoreEra } from './keystore-era.ts'
import { fileFaultOf, KeystoreFault } from './keystore-fault.ts'
import { openKeystore, type Sealed, sealKeystore } from './keystore-file.ts'

interface Options {
  readonly prefix: string
  /** Of the package that is installed: what the tool prints depends on it. */
  readonly version: () => string
}

/**
 * The stand-in for the tool that creates, recovers and imports keystores. It works on the files that it
 * is told, under the rights and the umask of the process that it runs in; as the real one, it overwrites
 * whatever is there.
 */
export const createKeystoreTool = ({ prefix, version }: Options): Tool =>
  function* (argv) {
    const era = eraOf(version())
    const { secretOption } = era
    const call = readKeystoreCall(argv, { secretOption, program: `${prefix}-keystore` })
    if (typeof call === 'string') yield* [{ stderr: call }, { exit: 2 }] satisfies Frame[]
    else yield* DO[call.mode](call, era)
  }

function* create(call: KeystoreCall, era: KeystoreEra): Generator<Frame> {
  yield say('It is recommended to generate key in air-gapped machine to be secure.')
  yield say('This tool is currently not fit for production use.')
  const secret = randomBytes(32)
  yield say(era.created(secret))
  yield* write(call, era, secret)
}

function* recover(call: KeystoreCall, era: KeystoreEra): Generator<Frame> {
  yield say(era.beginning)
  const sealed = attempt(() => readKeystore(call, era))
  if (sealed instanceof KeystoreFault) {
    yield* fail(era.failure('recover', sealed))
    return
  }
  for (const line of era.recovered(sealed)) yield say(line)
  if (yield* tellKeys(call, era, sealed)) yield { exit: 0 }
}

function* doImport(call: KeystoreCall, era: KeystoreEra): Generator<Frame> {
  const digits = call.secret.replace(/^0x/, '')
  const wrong = whyNoHex(digits)
  if (wrong) {
    const what = era.secretOption === 'ikm' ? 'ikm' : 'private key'
    yield* fail(era.refusal(`failed to parse ${what} as hex`, wrong))
    return
  }
  yield* write(call, era, Buffer.from(digits, 'hex'))
}

const DO = { create, recover, import: doImport } as const

function* write(call: KeystoreCall, era: KeystoreEra, secret: Buffer): Generator<Frame> {
  const sealed = { secret, version: era.writes }
  if (!(yield* tellKeys(call, era, sealed))) return
  const { path, password } = call
  const fault = attempt(() => {
    writeFileSync(path, sealKeystore({ ...sealed, password }))
    return null
  })
  if (fault) yield* fail(era.failure('write', fault))
  else yield* [say('Successfully generated keystore file.'), { exit: 0 }] satisfies Frame[]
}

/** Whether it goes on. */
function* tellKeys(
  { type }: KeystoreCall,
  era: KeystoreEra,
  sealed: Sealed,
): Generator<Frame, boolean> {
  if (!type) return true
  const pair = attempt(() => keyPairOf(sealed, type))
  if (pair instanceof KeystoreFault) {
    const why = { asText: pair.message, asDebug: pair.message }
    yield* fail(era.refusal(`failed to create ${type} keypair`, why))
    return false
  }
  for (const line of era.keys(pair, type)) yield say(line)
  return true
}

const readKeystore = ({ path, password }: KeystoreCall, { writes }: KeystoreEra): Sealed => {
  const sealed = openKeystore(readFileSync(path, 'utf8'), password)
  if (sealed.version > writes) throw new KeystoreFault('InvalidJSONFormat')
  return sealed
}

const attempt = <T>(what: () => T): T | KeystoreFault => {
  try {
    return what()
  } catch (error) {
    return fileFaultOf(error)
  }
}

const say = (line: string): Frame => ({ stdout: `${line}\n` })

function* fail({ stdout, stderr, exit }: ReturnType<KeystoreEra['failure']>): Generator<Frame> {
  if (stdout !== '') yield { stdout }
  if (stderr !== '') yield { stderr }
  yield { exit }
}

/** The first digit that is none is shown. */
const whyNoHex = (digits: string) => {
  if (digits.length % 2 === 1) {
    return { asText: 'Odd number of digits', asDebug: 'OddLength' }
  }
  const at = digits.search(/[^\da-f]/i)
  if (at < 0) return null
  const digit = digits.charAt(at)
  return {
    asText: `Invalid character '${digit}' at position ${at}`,
    asDebug: `InvalidHexCharacter { c: '${digit}', index: ${at} }`,
  }
}
