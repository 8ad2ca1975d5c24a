import { createPrivateKey, X509Certificate } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { z } from 'zod'
import { ConfigError, describeFileError } from '../core/errors.ts'
import { atFile, readText } from '../core/files.ts'
import { LIMITS } from '../core/limits.ts'
import { type ConfigFile, parseConfigFile, parseWith, sectionsOf, similarKey, unreadable } from './file.ts'

/** Which certificates clients must send; the names of exporter-toolkit. */
const CLIENT_AUTH_TYPES = [
  'NoClientCert',
  'RequestClientCert',
  'RequireAnyClientCert',
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
] as const

/** TLS, authentication and headers of a listener: the web configuration file of exporter-toolkit. */
export interface WebConfig {
  readonly tls: Awaited<ReturnType<typeof readTls>> | null
  readonly headers: Readonly<Record<string, string>>
  /** bcrypt hashes by user name; empty: no password is required. */
  readonly users: ReadonlyMap<string, string>
}

export const NO_WEB_CONFIG: WebConfig = { tls: null, headers: {}, users: new Map() }

const notSupported = (instead: string) =>
  z.undefined({ error: `expected without it: chain-agent does not support this key; ${instead}` }).optional()

const path = z.string('expected the path of a file').min(1, 'expected the path of a file')
const VERSIONS = { TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const
const version = z.enum(['TLS12', 'TLS13'], 'expected TLS12 or TLS13; older versions are not secure')
const INLINE = 'write it to a file, readable only by the user of the service, and name that file'
const CIPHERS = 'the defaults of Node.js apply. To exclude the cipher suites of TLS 1.2, set min_version: TLS13'

const tls = z
  .strictObject({
    cert_file: path,
    key_file: path,
    client_ca_file: path.optional(),
    client_auth_type: z
      .enum([...CLIENT_AUTH_TYPES, ''], `expected one of ${CLIENT_AUTH_TYPES.join(', ')}`)
      .transform((type) => (type === '' ? 'NoClientCert' : type))
      .default('NoClientCert'),
    min_version: version.default('TLS12'),
    max_version: version.default('TLS13'),
    prefer_server_cipher_suites: z.boolean().default(true),
    cert: notSupported(INLINE),
    key: notSupported(INLINE),
    client_ca: notSupported(INLINE),
    client_allowed_sans: notSupported('use a certificate authority that issues certificates to these clients only'),
    cipher_suites: notSupported(CIPHERS),
    curve_preferences: notSupported(CIPHERS),
  })
  .refine(({ min_version, max_version }) => min_version <= max_version, {
    path: ['max_version'],
    message: 'expected a version that is not below min_version',
  })
  .refine(({ client_ca_file, client_auth_type }) => client_ca_file === undefined || VERIFIED.has(client_auth_type), {
    path: ['client_ca_file'],
    message: 'expected with client_auth_type: RequireAndVerifyClientCert or VerifyClientCertIfGiven',
  })
  .refine(({ client_ca_file, client_auth_type }) => client_ca_file !== undefined || !VERIFIED.has(client_auth_type), {
    path: ['client_auth_type'],
    message: 'expected with client_ca_file, the certificate authority of the clients',
  })

const VERIFIED: ReadonlySet<string> = new Set<(typeof CLIENT_AUTH_TYPES)[number]>([
  'VerifyClientCertIfGiven',
  'RequireAndVerifyClientCert',
])

const header = z.string('expected text').regex(/^[\x20-\x7e]*$/, 'expected printable ASCII characters on one line')
const bcryptHash = z
  .string('expected a bcrypt hash')
  .regex(
    /^\$2[aby]\$(?:0[4-9]|1[0-4])\$[./A-Za-z0-9]{53}$/,
    'expected a bcrypt hash with a cost from 4 to 14, like the output of `htpasswd -nBC 10 NAME` after the colon',
  )

const schema = z.strictObject({
  tls_server_config: tls.optional(),
  http_server_config: z
    .strictObject({
      http2: z.literal(false, 'expected false: chain-agent serves HTTP/1.1 only').optional(),
      headers: z
        .strictObject({
          'Content-Security-Policy': header.optional(),
          'X-Frame-Options': z.enum(['', 'deny', 'sameorigin'], 'expected deny or sameorigin').optional(),
          'X-Content-Type-Options': z.enum(['', 'nosniff'], 'expected nosniff').optional(),
          'X-XSS-Protection': header.optional(),
          'Strict-Transport-Security': header.optional(),
        })
        .default({}),
    })
    .prefault({}),
  basic_auth_users: z
    .record(z.string().regex(/^[^:]{1,128}$/, 'expected a name of 1 to 128 characters without a colon'), bcryptHash)
    .default({}),
  rate_limit: notSupported('limit requests in a firewall or a proxy'),
})

type Written = z.output<typeof schema>

/** Parses the file without reading those that it names. Throws a ConfigError that lists every problem with its line. */
export const parseWebConfig = (file: ConfigFile): Written =>
  // Never with a value: it may be a hash, or a password in its place.
  parseWith(schema, { ...file, value: sectionsOf(file.value) }, (key, isUnknown) =>
    isUnknown
      ? similarKey(
          key,
          KEYS.filter((one) => one !== key.at(-1)),
        )
      : '',
  )

const KEYS = [...Object.keys(schema.shape), ...Object.keys(tls.shape), 'http2', 'headers']

export type WebConfigFile = ReturnType<typeof createWebConfigFile>

/** A web configuration file and the files that it names. */
export const createWebConfigFile = (file: string) => {
  let paths: readonly string[] = [file]
  let loaded = ''
  return {
    path: file,
    /** Throws a ConfigError that names the line. */
    load: async (): Promise<WebConfig> => {
      // Before the files are read: a later change is then seen, even if reading fails.
      loaded = await fingerprint(paths)
      const content = await readText(file, LIMITS.config.fileBytes).catch((error: unknown) => {
        throw unreadable(file, 'the web configuration file', error)
      })
      const parsed = parseConfigFile(file, content)
      const written = parseWebConfig(parsed)
      const { tls_server_config: names } = written
      const inDirectory = (name: string | undefined): readonly string[] =>
        name === undefined ? [] : [resolve(dirname(file), name)]
      const [own = ''] = loaded.split(';')
      const others = [names?.cert_file, names?.key_file, names?.client_ca_file].flatMap(inDirectory)
      paths = [file, ...others]
      loaded = `${own};${await fingerprint(others)}`
      return {
        tls: names === undefined ? null : await readTls(names, parsed),
        headers: Object.fromEntries(
          Object.entries(written.http_server_config.headers).flatMap(([name, text]) => (text ? [[name, text]] : [])),
        ),
        users: new Map(Object.entries(written.basic_auth_users)),
      }
    },
    /** Whether one of the files has changed since `load` was called. */
    hasChanged: async () => {
      const now = await fingerprint(paths)
      if (now === loaded) return false
      // A file that cannot be parsed is attempted once.
      loaded = now
      return true
    },
  }
}

/** Changes with each write, replacement and removal of a file. */
const fingerprint = async (paths: readonly string[]): Promise<string> => {
  const each = paths.map(async (file) => {
    const found = await atFile(file, () => stat(file, { bigint: true })).catch(() => null)
    return found ? `${found.ino} ${found.size} ${found.ctimeNs};` : 'none;'
  })
  return (await Promise.all(each)).join('')
}

/** TLS settings, with the contents of the files. */
const readTls = async (names: NonNullable<Written['tls_server_config']>, { name, lineOf }: ConfigFile) => {
  const problem = (key: keyof typeof names, message: string): ConfigError =>
    new ConfigError(`${name}:${lineOf(['tls_server_config', key])}: tls_server_config.${key}: ${message}`)
  const read = async (key: 'cert_file' | 'key_file' | 'client_ca_file', file: string): Promise<string> => {
    const place = resolve(dirname(name), file)
    return readText(place, LIMITS.config.fileBytes).catch((error: unknown) => {
      throw problem(key, `expected a file that this user can read; ${place}: ${describeFileError(error).happened}`)
    })
  }
  const { cert_file, key_file, client_ca_file, client_auth_type: clientAuth } = names
  const cert = await read('cert_file', cert_file)
  const key = await read('key_file', key_file)
  const ca = client_ca_file === undefined ? undefined : await read('client_ca_file', client_ca_file)
  const certificate = certificateOf(cert) ?? null
  if (certificate === null) throw problem('cert_file', 'expected a certificate in PEM format')
  if (ca !== undefined && !certificateOf(ca)) throw problem('client_ca_file', 'expected a certificate in PEM format')
  const privateKey = attempt(() => createPrivateKey(key))
  if (!privateKey) throw problem('key_file', 'expected a private key in PEM format, without a passphrase')
  if (!certificate.checkPrivateKey(privateKey))
    throw problem(
      'key_file',
      'expected the private key of the certificate in cert_file; this is the key of another one',
    )
  const context = {
    cert,
    key,
    /** The certificate authority of clients. */
    ca,
    minVersion: VERSIONS[names.min_version],
    maxVersion: VERSIONS[names.max_version],
    honorCipherOrder: names.prefer_server_cipher_suites,
  }
  try {
    createSecureContext(context)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw problem('cert_file', `expected a certificate and key that OpenSSL accepts; it reports: ${reason}`)
  }
  return { ...context, clientAuth }
}

const certificateOf = (pem: string): X509Certificate | undefined => attempt(() => new X509Certificate(pem))

/** OpenSSL may repeat its input in an error, so the error is not used. */
const attempt = <Value>(make: () => Value): Value | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}
