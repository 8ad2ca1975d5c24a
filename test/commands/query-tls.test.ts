import { readFile, writeFile } from 'node:fs/promises'
import { createServer as createPlain } from 'node:http'
import { createServer as createTls, type ServerOptions } from 'node:https'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { type Certificate, makeCertificate } from '../support/certificates.ts'
import { temporaryFolder } from '../support/directory.ts'
import { listening } from '../support/http.ts'
import { must, run } from '../support/programs.ts'

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const KEY = 'key-that-must-stay-secret-4711'
const folder = await temporaryFolder()
const valid = await makeCertificate(folder, 'valid')

/** A certificate that expired yesterday, or for another host name. */
const invalidCertificate = async (name: string, days: string, names: string): Promise<Certificate> => {
  const path = (ending: string): string => join(folder, `${name}.${ending}`)
  const [cert, key, request, extensions] = [path('crt'), path('key'), path('csr'), path('ext')]
  const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  await must('openssl', ['req', '-new', ...ec, '-subj', `/CN=${name}`, '-keyout', key, '-out', request])
  await writeFile(extensions, `subjectAltName=${names}\n`)
  const signing = ['-req', '-in', request, '-signkey', key, '-days', days, '-extfile', extensions, '-out', cert]
  await must('openssl', ['x509', ...signing])
  return { cert, key }
}

/** Runs `query --height` against a server, and returns its result and the keys that the server received. */
const heightOf = async (scheme: string, tls: ServerOptions | null, env: Readonly<Record<string, string>> = {}) => {
  const keys: unknown[] = []
  const server = (tls === null ? createPlain() : createTls(tls)).on(
    'request',
    ({ headers }: { readonly headers: { readonly authorization?: string } }, response: { end(text: string): void }) => {
      keys.push(headers.authorization)
      response.end('{"height":5}')
    },
  )
  const { url, close } = await listening(server)
  onTestFinished(close)
  const argv = [MAIN, 'query', '--height', '--url', url.replace(/^http/, scheme), '--retries', '0']
  const { PATH = '' } = process.env
  const options = { extendEnv: false, env: { PATH, CHAIN_AGENT_API_KEY: KEY, ...env } }
  const { code, stdout: out, stderr: err } = await run(process.execPath, argv, options)
  expect(out + err).not.toContain(KEY)
  return { code, out, err, keys }
}

const pem = async ({ cert, key }: Certificate) => ({ cert: await readFile(cert), key: await readFile(key) })
const trusting = async (certificate: Certificate, more: ServerOptions = {}) =>
  heightOf('https', { ...(await pem(certificate)), ...more }, { NODE_EXTRA_CA_CERTS: certificate.cert })

it('the height of a service whose authority is trusted is read', async () => {
  expect(await trusting(valid)).toMatchObject({ code: 0, out: '5', keys: [`Bearer ${KEY}`] })
})

const OLD = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const

it.each([
  [
    'a self-signed certificate, also with NODE_TLS_REJECT_UNAUTHORIZED=0,',
    async () => heightOf('https', await pem(valid), { NODE_TLS_REJECT_UNAUTHORIZED: '0' }),
    'its certificate is self-signed, or of an authority that this host does not trust',
  ],
  [
    'an expired certificate',
    async () => trusting(await invalidCertificate('expired', '-1', 'IP:127.0.0.1')),
    'its certificate has expired',
  ],
  [
    'a certificate of another host',
    async () => trusting(await invalidCertificate('other', '2', 'DNS:other.example')),
    'its certificate is for another host name',
  ],
  ['TLS 1.0 and 1.1 only', async () => trusting(valid, OLD), 'it offers only a version of TLS before 1.2'],
  ['a port without TLS', async () => heightOf('https', null), 'this port does not use TLS'],
])('%s is an error, and the key is not sent', async (_, ask, reason) => {
  const { code, out, err, keys } = await ask()
  expect({ code, out, keys }).toEqual({ code: 1, out: '', keys: [] })
  expect(err).toContain(
    `: no trusted connection: ${reason}\n  what to do: check the scheme, the host name and the port`,
  )
})

it('http to a port with TLS is an error', async () => {
  const { code, err, keys } = await heightOf('http', await pem(valid))
  expect({ code, keys }).toEqual({ code: 1, keys: [] })
  expect(err).toContain('no connection (connection reset)')
})
