import { type IncomingHttpHeaders, type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestTls, type RequestOptions } from 'node:https'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { TLSSocket } from 'node:tls'
import { must } from './programs.ts'

export interface Certificate {
  /** PEM files. */
  readonly cert: string
  readonly key: string
}

interface CertificateOptions {
  readonly directory: string
  readonly name: string
  readonly issuer?: Certificate | undefined
  readonly days: number
}

/** A certificate for its name, localhost and 127.0.0.1, of its own authority or of another. */
export const makeCertificate = async (directory: string, name: string, issuer?: Certificate): Promise<Certificate> =>
  makeCertificateOf({ directory, name, issuer, days: 2 })

/** One that is valid for so many days. */
export const makeCertificateOf = async (options: CertificateOptions): Promise<Certificate> => {
  const { directory, name, issuer, days } = options
  const cert = join(directory, `${name}.crt`)
  const key = join(directory, `${name}.key`)
  const args = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', `${days}`]
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name},DNS:localhost,IP:127.0.0.1`]
  const signer = issuer ? ['-CA', issuer.cert, '-CAkey', issuer.key, '-addext', 'basicConstraints=CA:FALSE'] : []
  await must('openssl', [...args, ...names, ...signer, '-keyout', key, '-out', cert])
  return { cert, key }
}

interface Answer {
  readonly status: number | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** Of the server's certificate. */
  readonly serial: string | undefined
}

/** One request on a connection of its own; the certificate of the server is not checked. */
export const askServer = async (options: RequestOptions & { readonly protocol: string }): Promise<Answer> => {
  const send = options.protocol === 'https:' ? requestTls : requestPlain
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    send({ host: '127.0.0.1', agent: false, rejectUnauthorized: false, ...options }, resolve)
      .once('error', reject)
      .end()
  })
  const { socket, statusCode: status, headers } = response
  const serial = socket instanceof TLSSocket ? socket.getPeerX509Certificate()?.serialNumber : undefined
  return { status, headers, serial, body: await text(response) }
}
