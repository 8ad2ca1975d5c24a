import { X509Certificate } from 'node:crypto'
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from 'node:http'
import { createServer as createHttpsServer, type Server as HttpsServer, type ServerOptions } from 'node:https'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { TLSSocket } from 'node:tls'
import { isDeepStrictEqual } from 'node:util'
import { hostAndPort } from '../core/format.ts'
import { createWebConfigFile, NO_WEB_CONFIG, type WebConfig, type WebConfigFile } from '../config/web-config.ts'
import { certificateEnd } from '../core/bounds.ts'
import type { Clock } from '../core/clock.ts'
import { asError } from '../core/errors.ts'
import { memoizeLast, type Reloader } from '../core/reload.ts'
import { second } from '../core/units.ts'
import { createBasicAuth } from './basic-auth.ts'
import { type Handler, networkOf, oneAtATime } from './connections.ts'

export interface Address {
  readonly host: string
  readonly port: number
}

/** A request that is answered before it reaches the handler. */
export interface Rejection {
  readonly status: 400 | 401 | 403 | 417 | 421 | 500 | 503
  readonly message: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a rejection in the format of the listener. */
export type Reject = (rejection: Rejection, request: IncomingMessage, response: ServerResponse) => void

export interface ListenerOptions {
  readonly options: ServerOptions
  readonly address: Address
  readonly handler: Handler
  readonly reject: Reject
  /** Whether the handler authenticates requests itself, so that they need no password. */
  readonly isAuthenticated?: () => boolean
}

export type WebServer = HttpServer | HttpsServer

/** TLS, authentication and headers of all listeners of a process. */
export type Web = ReturnType<typeof createWeb>

interface WebOptions {
  readonly config: WebConfig
  /** Host names under which clients reach the listeners. */
  readonly hosts: readonly string[]
  readonly complain: (error: Error) => void
}

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Why a listener is exposed. */
export const UNAUTHENTICATED = 'requests are not authenticated'

/** Headers of every response: it must not be cached, framed or embedded. A page may load files of its server only. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
}

/** The limit of a TLS handshake: a connection that does not complete it would otherwise hold a slot for two minutes. */
const HANDSHAKE_TIMEOUT_MS = 5 * second

export const createWeb = ({ config, hosts, complain }: WebOptions) => {
  let current = config
  const secureServers: HttpsServer[] = []
  // The accepted passwords stay known when only a certificate changes.
  const authFor = memoizeLast((users: WebConfig['users']) => createBasicAuth(users))
  const endOf = memoizeLast(({ cert }: NonNullable<WebConfig['tls']>) => certificateEnd(new X509Certificate(cert)))
  const login = ({ headers, socket }: IncomingMessage) =>
    authFor(current.users).check(headers.authorization, networkOf(socket.remoteAddress ?? ''))

  const admit = ({ address, handler, reject, isAuthenticated = () => false }: ListenerOptions): Handler => {
    const isExpectedHost = createHostCheck(address.host, hosts)
    return (request, response) => {
      for (const [name, text] of Object.entries({ ...SECURITY_HEADERS, ...current.headers }))
        response.setHeader(name, text)
      const rejection = checkHost(request, isExpectedHost) ?? checkSite(request) ?? checkCertificate(request, current)
      if (rejection) {
        reject(rejection, request, response)
        return
      }
      const result = isAuthenticated() ? undefined : login(request)
      if (!result) {
        handler(request, response)
        return
      }
      void result.then(
        (outcome) => {
          if (request.socket.destroyed) return
          if (outcome === 'accepted') handler(request, response)
          else reject(LOGIN_REJECTIONS[outcome], request, response)
        },
        (error: unknown) => {
          complain(asError(error))
          reject(FAILED, request, response)
        },
      )
    }
  }

  return {
    scheme: config.tls ? ('https' as const) : ('http' as const),
    /** When the certificate ends, in milliseconds since the epoch; null without TLS, and if it does not end. */
    certificateEndsAt: (): number | null => current.tls && endOf(current.tls),
    /** Creates a server that answers only requests that the configuration admits. */
    createServer: (listener: ListenerOptions): WebServer => {
      const { tls } = current
      // A request without a Host header is answered by checkHost.
      const options = { ...listener.options, requireHostHeader: false }
      const handle = oneAtATime(admit(listener))
      const server: WebServer = tls
        ? createHttpsServer({ handshakeTimeout: HANDSHAKE_TIMEOUT_MS, ...options, ...contextOf(tls) }, handle)
        : createHttpServer(options, handle)
      if ('setSecureContext' in server) secureServers.push(server)
      return withExpectation(server, listener)
    },
    /** Why other hosts should not reach this address; null if they may, or cannot. */
    exposure: ({ host }: Address): string | null => {
      if (isLoopback(host)) return null
      const isClientVerified = current.tls?.clientAuth === 'RequireAndVerifyClientCert'
      if (current.users.size === 0 && !isClientVerified) return UNAUTHENTICATED
      return current.tls ? null : 'passwords are not encrypted'
    },
    /** Applies to new connections and requests. Returns what needs a restart. */
    update: (next: WebConfig): readonly string[] => {
      if ((next.tls === null) !== (current.tls === null)) {
        // The rest is not applied either: passwords of a file with TLS must not be sent without it.
        return ['web.configFile (tls_server_config was added or removed)']
      }
      const { tls } = next
      const hasNewTls = !isDeepStrictEqual(tls, current.tls)
      current = next
      if (tls && hasNewTls) for (const server of secureServers) replaceContext(server, contextOf(tls))
      return []
    },
  }
}

const withExpectation = (server: WebServer, { reject }: ListenerOptions): WebServer =>
  server.on('checkExpectation', (request, response) => {
    for (const [name, text] of Object.entries(SECURITY_HEADERS)) response.setHeader(name, text)
    reject({ status: 417, message: 'only Expect: 100-continue is supported' }, request, response)
  })

/**
 * Options of a TLS server. It asks for certificates and does not reject any: `checkCertificate` answers with the reason,
 * where TLS would close the connection without one.
 */
const contextOf = ({ clientAuth, ca, ...context }: NonNullable<WebConfig['tls']>) => ({
  ...context,
  ...(ca !== undefined && { ca }),
  requestCert: clientAuth !== 'NoClientCert',
  rejectUnauthorized: false,
})

const replaceContext = (server: HttpsServer, options: ReturnType<typeof contextOf>): void => {
  server.setSecureContext(options)
  // Node.js reads it for each connection, and setSecureContext does not set it.
  Object.assign(server, { requestCert: options.requestCert })
  // Clients with an open connection have to connect again with a certificate that is still valid.
  server.closeIdleConnections()
}

const LOGIN_REJECTIONS: Readonly<Record<'rejected' | 'busy', Rejection>> = {
  rejected: {
    status: 401,
    message: 'a user name and password of basic_auth_users are required',
    headers: { 'WWW-Authenticate': 'Basic realm="chain-agent", charset="UTF-8"' },
  },
  busy: { status: 503, message: 'too many passwords are being checked', headers: { 'Retry-After': '1' } },
}

const FAILED: Rejection = { status: 500, message: 'the password could not be checked; see the log for the reason' }

/** `authorized` is also true for a resumed session without a certificate. */
const checkCertificate = ({ socket }: IncomingMessage, { tls }: WebConfig): Rejection | undefined => {
  if (!tls || !(socket instanceof TLSSocket)) return undefined
  if (socket.getPeerX509Certificate() === undefined) return tls.clientAuth.startsWith('Require') ? MISSING : undefined
  return tls.clientAuth.includes('Verify') && !socket.authorized ? INVALID : undefined
}

const MISSING: Rejection = { status: 403, message: 'a client certificate is required' }
const INVALID: Rejection = {
  status: 403,
  message: 'the client certificate is expired, or not issued by the certificate authority in client_ca_file',
}

const checkHost = (
  { headers: { host }, httpVersion }: IncomingMessage,
  isExpected: (name: string) => boolean,
): Rejection | undefined => {
  // Only HTTP/1.0 allows it. Browsers send it always.
  if (host === undefined)
    return httpVersion === '1.0' ? undefined : { status: 400, message: 'the request has no Host header' }
  // The name without the port, and without the dot at the end of a complete domain name.
  const [, v6, name = ''] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(host) ?? []
  return isExpected((v6 ?? name).toLowerCase())
    ? undefined
    : {
        status: 421,
        message:
          'the name in the Host header is not one of this server: use its IP address, or add the name to web.hosts ' +
          'in the configuration',
      }
}

/**
 * A page of another site in a browser on this host, or in its network, cannot read a response, and must not cost a
 * computation either. A link on it may lead here.
 */
const checkSite = ({ headers }: IncomingMessage): Rejection | undefined => {
  const site = headers['sec-fetch-site']
  const isLink = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document'
  return site === undefined || site === 'same-origin' || site === 'none' || isLink ? undefined : OTHER_SITE
}

const OTHER_SITE: Rejection = {
  status: 403,
  message: 'a page of another site sent this request: open the address itself, or follow a link to it',
}

/**
 * Protects from DNS rebinding: a web page in a browser on this host, or in its network, whose domain name resolves to the
 * address of the listener, can read the responses. Its requests have that name in the Host header. IP addresses are
 * accepted: a page under an IP address can be one of that address only. A listener on a loopback address is reached by
 * loopback names, so others are rejected. One on other addresses is scraped under names that the agent cannot know, so
 * it accepts every name until names are configured.
 */
const createHostCheck = (bound: string, hosts: readonly string[]): ((name: string) => boolean) => {
  if (!isLoopback(bound) && hosts.length === 0) return () => true
  const names = new Set(['localhost', hostname(), bound, ...hosts].map((name) => name.toLowerCase()))
  return (name) => isIP(name) !== 0 || names.has(name)
}

export const isLoopback = (host: string): boolean => host === '::1' || host.startsWith('127.')

interface StartWebOptions {
  readonly config: {
    readonly configFile: string | null
    readonly hosts: readonly string[]
  }
  readonly clock: Clock
  readonly log: { warn(text: string): void; error(text: string): void }
  readonly reloader: Reloader
}

/** Interval of the check for changed files, in milliseconds. It reads their times only. */
const CHECK_INTERVAL_MS = 5 * second

/** A file may be seen half written, and a renewed certificate before its key. */
const WRITE_TIME_MS = second

/** Loads the web configuration file, if there is one, and follows its changes. Throws a ConfigError. */
export const startWeb = async ({ config, clock, log, reloader }: StartWebOptions) => {
  const { configFile, hosts } = config
  const file = configFile === null ? null : createWebConfigFile(configFile)
  const web = createWeb({
    config: file ? await file.load() : NO_WEB_CONFIG,
    hosts,
    complain: (error) => {
      log.error(error.stack ?? error.message)
    },
  })
  const exposed = new Map<Address, string | null>()

  const warn = (address: Address): void => {
    const exposure = web.exposure(address)
    if (exposure !== null && exposure !== exposed.get(address))
      log.warn(
        `Other hosts can connect to ${hostAndPort(address)}, and ${exposure}: use a loopback address, or set TLS and ` +
          'authentication with --web.config.file',
      )
    exposed.set(address, exposure)
  }
  const load = async (from: WebConfigFile): Promise<void> =>
    reloader.run(async () => {
      const pending = web.update(await from.load())
      for (const address of exposed.keys()) warn(address)
      return { applied: pending.length === 0 ? ['web.configFile'] : [], pending }
    }, from.path)
  return {
    ...web,
    /** Applies the file if it or one that it names has changed. Logs the result, and never rejects. */
    reload: async (): Promise<void> => {
      if (file && (await file.hasChanged())) await load(file)
    },
    /** Applies changes until the signal aborts. */
    watch: async (signal: AbortSignal): Promise<void> => {
      while (file && !signal.aborted) {
        await clock.sleep(CHECK_INTERVAL_MS, signal)
        if (signal.aborted || !(await file.hasChanged())) continue
        await clock.sleep(WRITE_TIME_MS, signal)
        await load(file)
      }
    },
    /** Logs a warning if other hosts can read this listener, now and when a reload changes that. */
    warnIfExposed: warn,
  }
}
