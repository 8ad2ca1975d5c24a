import { readFile } from 'node:fs/promises'
import { createServer, type ServerOptions } from 'node:https'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { type Certificates, createCertificates } from '../../src/sources/certificates.ts'
import { createHttpClient } from '../../src/sources/http.ts'
import { type Certificate, makeCertificate, makeCertificateOf } from '../support/certificates.ts'
import { temporaryFolder } from '../support/directory.ts'
import { listening } from '../support/http.ts'
import { manualClock } from '../support/manual-clock.ts'

const DAY = 86_400_000
const { signal } = new AbortController()
const directory = await temporaryFolder()
const authority = await makeCertificate(directory, 'authority')
const ca = [await readFile(authority.cert, 'utf8')]

const filesOf = async ({ cert, key }: Certificate) => ({ cert: await readFile(cert), key: await readFile(key) })

/** A server whose connections stay open, and whose sessions can be resumed, with a certificate of so many days. */
const serve = async (days: number) => {
  const server = createServer(
    await filesOf(await makeCertificateOf({ directory, name: 'server', issuer: authority, days })),
    (_, response) => {
      response.end('{}')
    },
  )
  server.keepAliveTimeout = 60_000
  const { url, close } = await listening(server)
  onTestFinished(close)
  return {
    url: url.replace('http:', 'https:'),
    endpoint: new URL(url).host,
    renew: async (renewed: number) => {
      const files: ServerOptions = await filesOf(
        await makeCertificateOf({ directory, name: 'server', issuer: authority, days: renewed }),
      )
      server.setSecureContext({ ...files })
    },
  }
}

const daysLeft = (certificates: Certificates, listener: number | null = null) =>
  certificates
    .samples(listener)
    .map(({ labels, value }) => [labels['endpoint'], Math.round((value * 1000 - Date.now()) / DAY)])

test('a request shows when the certificate of its server ends', async () => {
  const { url, endpoint } = await serve(90)
  const certificates = createCertificates(systemClock)
  const ask = createHttpClient(systemClock, ca, certificates)
  expect(certificates.samples(null)).toEqual([])
  await ask({ url, timeout: 60_000, maxBytes: 1000, signal })
  expect(daysLeft(certificates)).toEqual([[endpoint, 90]])
})

test('without TLS there is none; the listener has its own', () => {
  const certificates = createCertificates(systemClock)
  expect(daysLeft(certificates, Date.now() + 7 * DAY)).toEqual([['listener', 7]])
})

test('a renewed certificate is seen, although its connection is kept and its session can be resumed', async () => {
  const clock = manualClock(Date.now())
  const { url, endpoint, renew } = await serve(10)
  const certificates = createCertificates(clock)
  const ask = createHttpClient(clock, ca, certificates)
  const request = () => ask({ url, timeout: 60_000, maxBytes: 1000, signal })
  await request()
  await renew(90)
  await request()
  expect(daysLeft(certificates)).toEqual([[endpoint, 10]])
  await clock.advance(60_000)
  await request()
  expect(daysLeft(certificates)).toEqual([[endpoint, 90]])
})

test('a server that is no longer requested is forgotten after an hour', async () => {
  const clock = manualClock(Date.now())
  const { url } = await serve(90)
  const certificates = createCertificates(clock)
  const ask = createHttpClient(clock, ca, certificates)
  await ask({ url, timeout: 60_000, maxBytes: 1000, signal })
  await clock.advance(3_600_000)
  expect(certificates.samples(null)).toHaveLength(1)
  await clock.advance(1)
  expect(certificates.samples(null)).toEqual([])
})

test('a request that fails keeps what is known: an ended certificate is still one', async () => {
  const clock = manualClock(Date.now())
  const { url, endpoint } = await serve(10)
  const certificates = createCertificates(clock)
  const request = (authorities: readonly string[]) =>
    createHttpClient(clock, authorities, certificates)({ url, timeout: 60_000, maxBytes: 1000, signal })
  await request(ca)
  for (let hours = 0; hours < 3; hours += 1) {
    await clock.advance(1_800_000)
    await expect(request([])).rejects.toThrow('no trusted connection')
  }
  expect(daysLeft(certificates)).toEqual([[endpoint, 10]])
})
