import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { parseConfigFile } from '../../src/config/file.ts'
import { createWebConfigFile, parseWebConfig } from '../../src/config/web-config.ts'
import { makeCertificate } from '../support/certificates.ts'
import { it } from '../support/directory.ts'
import { must } from '../support/programs.ts'

const HASH = '$2y$10$X0h1gDsPszWURQaxFh.zoubFi6DXncSjhoQNJgRrnGs7EsimhC7zG'
const TLS = 'tls_server_config:\n  cert_file: a.crt\n  key_file: a.key\n'

const problemsOf = (text: string): string => {
  try {
    parseWebConfig(parseConfigFile('web.yml', text))
  } catch (error) {
    return String(error)
  }
  return 'valid'
}

describe('the text of a web configuration file', () => {
  it.for([
    '',
    '# nothing\n',
    TLS,
    `${TLS}  client_auth_type: ""\n  min_version: TLS13\n  max_version: TLS13\n  prefer_server_cipher_suites: false\n`,
    `${TLS}  client_auth_type: RequestClientCert\n`,
    `${TLS}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n`,
    'http_server_config:\n  http2: false\n  headers:\n    X-Frame-Options: deny\n    Strict-Transport-Security: max-age=60\n',
    'tls_server_config:\nbasic_auth_users:\n',
    `basic_auth_users:\n  prometheus: ${HASH}\n  ada@example.org: ${HASH.replace('$2y$10', '$2b$04')}\n`,
  ])('%j is valid', (text) => {
    expect(problemsOf(text)).toBe('valid')
  })

  it('a key in the wrong section is not proposed for itself', () => {
    expect(problemsOf('tls_server_config:\ncert_file: a.crt\n')).toBe('ConfigError: web.yml:2: no such key: cert_file')
  })

  it.for([
    ['a: [', ':1: not YAML: '],
    ['- a\n', ':1: expected keys and values'],
    ['basic_auth_user:\n  a: b\n', ':1: no such key: basic_auth_user; did you mean basic_auth_users?'],
    [`${TLS}  cert_fil: b.crt\n`, ':4: no such key: tls_server_config.cert_fil; did you mean cert_file?'],
    ['tls_server_config:\n  cert_file: a.crt\n', ':1: tls_server_config.key_file: expected the path of a file'],
    [`${TLS}  min_version: TLS10\n`, ':4: tls_server_config.min_version: expected TLS12 or TLS13; older'],
    [`${TLS}  min_version: TLS13\n  max_version: TLS12\n`, 'max_version: expected a version that is not below min_'],
    [`${TLS}  client_auth_type: Always\n`, ':4: tls_server_config.client_auth_type: expected one of NoClientCert, '],
    [`${TLS}  client_auth_type: RequireAndVerifyClientCert\n`, 'client_auth_type: expected with client_ca_file'],
    [`${TLS}  client_ca_file: ca.crt\n`, 'client_ca_file: expected with client_auth_type: RequireAndVerifyClientCert'],
    [`${TLS}  cipher_suites: [TLS_RSA_WITH_AES_128_CBC_SHA]\n`, 'tls_server_config.cipher_suites: expected without'],
    ['http_server_config:\n  http2: true\n', 'expected false: chain-agent serves HTTP/1.1 only'],
    ['http_server_config:\n  headers:\n    X-Frame-Options: allow\n', ':3: http_server_config.headers.X-Frame-'],
    ['http_server_config:\n  headers:\n    Server: x\n', ':3: no such key: http_server_config.headers.Server'],
    ['rate_limit:\n  burst: 2\n', ':1: rate_limit: expected without it'],
    [`basic_auth_users:\n  a:b: ${HASH}\n`, ':2: basic_auth_users.a:b: expected a name of 1 to 128 characters'],
    [`basic_auth_users:\n  ada: ${HASH.replace('$10$', '$17$')}\n`, 'expected a bcrypt hash with a cost from 4 to 14'],
  ] as const)('%j is an error that names the line', ([text, expected]) => {
    expect(problemsOf(text)).toMatch(/^ConfigError: web\.yml:\d: /)
    expect(problemsOf(text)).toContain(expected)
  })

  it('an error contains no password and no key', () => {
    const text = `tls_server_config:\n  key: SECRET-KEY\nbasic_auth_users:\n  ada: SECRET-PASSWORD\n  bob: [SECRET-LIST]\n`
    const problems = problemsOf(text)
    expect(problems).toContain('web.yml:2: tls_server_config.key: expected without it')
    expect(problems).toContain('web.yml:4: basic_auth_users.ada: expected a bcrypt hash')
    expect(problems).toContain('web.yml:5: basic_auth_users.bob: expected a bcrypt hash')
    expect(problems).not.toContain('SECRET')
  })
})

describe('the files of a web configuration', () => {
  it('are found relative to it, and each problem names the key', async ({ directory }) => {
    const [a, b] = [await makeCertificate(directory, 'a'), await makeCertificate(directory, 'b')]
    const file = join(directory, 'web.yml')
    await writeFile(file, `# comment\n${TLS}`)
    const load = async (): Promise<string> =>
      createWebConfigFile(file)
        .load()
        .then(({ tls }) => (tls?.key.includes('PRIVATE KEY') ? 'loaded' : 'no key'))
        .catch((error: unknown) => String(error).replaceAll(directory, 'DIR'))
    expect(await load()).toBe('loaded')
    await rename(a.key, `${a.key}.aside`)
    expect(await load()).toBe(
      'ConfigError: DIR/web.yml:4: tls_server_config.key_file: expected a file that this user can read; DIR/a.key: ' +
        'there is no such file or directory',
    )
    await rename(b.key, a.key)
    expect(await load()).toContain(
      'web.yml:4: tls_server_config.key_file: expected the private key of the certificate in cert_file',
    )
    await writeFile(a.key, 'SECRET-TEXT')
    expect(await load()).toMatch(
      /web\.yml:4: tls_server_config\.key_file: expected a private key in PEM format.*passphrase$/,
    )
    await must('openssl', ['genpkey', '-algorithm', 'ED25519', '-aes256', '-pass', 'pass:x', '-out', a.key])
    expect(await load()).toMatch(
      /web\.yml:4: tls_server_config\.key_file: expected a private key in PEM format.*passphrase$/,
    )
    await writeFile(a.cert, 'no certificate')
    expect(await load()).toContain('web.yml:3: tls_server_config.cert_file: expected a certificate in PEM format')
    await rm(file)
    expect(await load()).toContain('DIR/web.yml: the web configuration file cannot be read: there is no such file')
  })

  it('are checked for changes, each change once', async ({ directory }) => {
    const a = await makeCertificate(directory, 'a')
    const file = join(directory, 'web.yml')
    await writeFile(file, TLS)
    const web = createWebConfigFile(file)
    await web.load()
    expect(await web.hasChanged()).toBe(false)
    // A renewal replaces the file, here by one with the same content and size.
    await writeFile(`${a.cert}.new`, (await web.load()).tls?.cert ?? '')
    await rename(`${a.cert}.new`, a.cert)
    expect([await web.hasChanged(), await web.hasChanged()]).toEqual([true, false])
    await writeFile(file, 'wrong')
    expect(await web.hasChanged()).toBe(true)
    await expect(web.load()).rejects.toThrow('web.yml:1')
    expect(await web.hasChanged()).toBe(false)
    await rm(a.key)
    expect(await web.hasChanged()).toBe(true)
    await writeFile(file, '')
    await web.load()
    // The key is no longer one of its files.
    await writeFile(a.key, 'other')
    expect(await web.hasChanged()).toBe(false)
  })
})
