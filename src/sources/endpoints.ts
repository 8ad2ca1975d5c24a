import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { errorCode, SourceError } from '../core/errors.ts'
import { hostAndPort } from '../core/format.ts'
import { isObject, tryJson } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'
import { redactUrl } from '../core/redaction/redact.ts'
import { readSecretFile } from './credential-file.ts'
import { type HttpResponse, NoResponseError, posted, type SendRequest } from './http.ts'
import type { Clock } from '../core/clock.ts'
import { second } from '../core/units.ts'

const { response } = LIMITS

export type RpcEndpoint = ReturnType<typeof createRpcEndpoint>

/** The node needs an `id`: without one it returns "Parse error". */
const rpcCall = (id: number, method: string, params: readonly unknown[]) => ({ jsonrpc: '2.0', id, method, params })

const responseBytes = (method: string): number =>
  method === 'eth_getBlockByNumber' ? response.blockBytes : response.valueBytes

/** A JSON-RPC endpoint. Responses are not interpreted. `timeout` limits each call, in milliseconds. */
export const createRpcEndpoint = (ask: SendRequest, url: string, timeout: number) => ({
  /** Throws a NoResponseError when there is no answer. */
  call: (method: string, params: readonly unknown[], signal: AbortSignal) =>
    ask({ url, ...posted(rpcCall(1, method, params)), timeout, maxBytes: responseBytes(method), signal }),
})

interface BatchedCall {
  readonly method: string
  readonly params: readonly unknown[]
  readonly signal: AbortSignal
  readonly resolve: (response: HttpResponse | Promise<HttpResponse>) => void
}

/**
 * Sends the calls of one moment as a batch: a third of the requests for the RPC collector. The node allows 1,000 calls in
 * a batch by default (monad-rpc/src/cli.rs). A server that answers a batch with anything but a list receives single
 * requests from then on.
 */
export const createBatchingRpcEndpoint = (ask: SendRequest, url: string, timeout: number): RpcEndpoint => {
  const single = createRpcEndpoint(ask, url, timeout)
  let isSupported = true
  let calls: BatchedCall[] = []

  const sendEach = (batch: readonly BatchedCall[]): void => {
    for (const { method, params, signal, resolve } of batch) resolve(single.call(method, params, signal))
  }
  const sendBatch = async (batch: readonly BatchedCall[], signal: AbortSignal): Promise<void> => {
    const answer = await ask({
      url,
      ...posted(batch.map(({ method, params }, id) => rpcCall(id, method, params))),
      timeout,
      maxBytes: batch.reduce((bytes, { method }) => bytes + responseBytes(method), 0),
      signal,
    })
    const list = listOf(answer)
    if (list === undefined) {
      isSupported = false
      sendEach(batch)
      return
    }
    for (const [id, { resolve }] of batch.entries()) {
      const own = list.find((element) => isObject(element) && element['id'] === id)
      resolve({ ...answer, text: JSON.stringify(own) ?? '' })
    }
  }
  const flush = (): void => {
    const [batch, first] = [calls, calls[0]]
    calls = []
    if (!isSupported || batch.length === 1 || first === undefined) sendEach(batch)
    else {
      sendBatch(batch, first.signal).catch((error: unknown) => {
        for (const { resolve } of batch) resolve(Promise.reject(error))
      })
    }
  }
  return {
    call: (method, params, signal) =>
      new Promise((resolve) => {
        if (calls.push({ method, params, signal, resolve }) === 1) queueMicrotask(flush)
      }),
  }
}

/** The elements of a batch; undefined for another response. */
const listOf = ({ status, text }: HttpResponse): readonly unknown[] | undefined => {
  const value = status === 200 ? tryJson(text) : undefined
  return Array.isArray(value) ? value : undefined
}

export type QueryEndpoint = ReturnType<typeof createQueryEndpoint>

interface QueryService {
  readonly url: string
  readonly apiKeyFile: string | null
}

/**
 * The event query service: only its height is requested. The key is read for each request, so that it can be changed.
 * `timeout` in milliseconds bounds each call.
 */
export const createQueryEndpoint = (ask: SendRequest, { url, apiKeyFile }: QueryService, timeout: number) => ({
  /** Throws a NoResponseError if there is no response, and a SourceError if the key cannot be read. */
  height: async (signal: AbortSignal) =>
    ask({
      url: `${url.replace(/\/+$/, '')}/height`,
      ...(apiKeyFile !== null && { bearer: await readSecretFile(apiKeyFile, 'API key') }),
      timeout,
      maxBytes: response.valueBytes,
      signal,
    }),
})

export type MetricsEndpoint = ReturnType<typeof createMetricsEndpoint>

/** Not OpenMetrics: with it the OpenTelemetry collector prints timestamps in seconds. */
const ACCEPT = 'text/plain;version=0.0.4, text/plain;q=0.5, */*;q=0.1'

/**
 * An endpoint with metrics in the Prometheus text format. If the URL has no path, `/metrics` is requested. `timeout` limits
 * each call, in milliseconds.
 */
export const createMetricsEndpoint = (ask: SendRequest, url: string, timeout: number) => {
  const address = new URL(url)
  if (address.pathname === '/') address.pathname = '/metrics'
  return {
    /** Throws a NoResponseError when there is no answer. */
    metrics: (signal: AbortSignal) =>
      ask({ url: address.href, accept: ACCEPT, timeout, maxBytes: response.metricsBytes, signal }),
  }
}

/** In milliseconds. Less than a minute, so that a collector that polls each minute sends its request. */
const REFUSED_FOR = 50 * second

/**
 * The same endpoint. A port that has refused each connection since the start, or has no such page (4xx), receives one
 * request a minute: many hosts have no OpenTelemetry collector, and RPCs up to v0.16 no metrics. In between, the last
 * response is repeated.
 */
const askRarelyIfNeverThere = (endpoint: MetricsEndpoint, clock: Pick<Clock, 'elapsed'>): MetricsEndpoint => {
  let hasAnswered = false
  let absent: { readonly answer: Promise<HttpResponse>; readonly until: number } | undefined
  return {
    metrics: async (signal) => {
      if (absent && clock.elapsed() < absent.until) return absent.answer
      absent = undefined
      const answer = endpoint.metrics(signal)
      const isAbsent = await answer.then(
        ({ status }) => status >= 400 && status < 500,
        // Another error, as a timeout, is neither.
        (error: unknown) => (error instanceof NoResponseError && error.detail === 'ECONNREFUSED' ? true : null),
      )
      if (isAbsent === false) hasAnswered = true
      if (isAbsent === true && !hasAnswered) absent = { answer, until: clock.elapsed() + REFUSED_FOR }
      return answer
    },
  }
}

/** Sends a heartbeat document. Throws a SourceError if there is no response. */
type SendHeartbeat = (document: unknown, signal: AbortSignal) => Promise<HttpResponse>

/** `urlFile` has the URL, which is a secret. `timeout` in milliseconds. */
export const createHeartbeat =
  (ask: SendRequest, urlFile: string, timeout: number): SendHeartbeat =>
  async (document, signal) => {
    const url = await readSecretFile(urlFile)
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url)) {
      throw new SourceError({
        doing: `read the address in ${urlFile}`,
        happened: 'it is not an http or https address',
        advice: 'write one address into it, and nothing else',
      })
    }
    return ask({ url, ...posted(document), timeout, maxBytes: response.valueBytes, signal })
  }

/** `refused` is an answer of the host; `silent` a timeout or no route to it; null: unknown, as the name was not resolved. */
type ProbePort = (signal: AbortSignal) => Promise<'open' | 'refused' | 'silent' | null>

const NOT_REACHED = ['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN']

/** Connects to a TCP port and closes the connection, without sending anything. `timeout` in milliseconds. */
export const createPortProbe = (address: string, timeout: number): ProbePort => {
  const { hostname, port } = new URL(`tcp://${address}`)
  return async (signal) => {
    const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port), timeout })
    // An error that comes after the end of the wait has no other listener.
    socket.on('error', () => undefined)
    socket.on('timeout', () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })))
    try {
      await once(socket, 'connect', { signal })
      return 'open'
    } catch (error) {
      const code = errorCode(error, '')
      return code === 'ECONNREFUSED' ? 'refused' : NOT_REACHED.includes(code) ? 'silent' : null
    } finally {
      socket.destroy()
    }
  }
}

export type AlertmanagerEndpoint = ReturnType<typeof createAlertmanagerEndpoint>

/**
 * The API of an Alertmanager, version 2: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml.
 * `timeout` limits each request, in milliseconds.
 */
export const createAlertmanagerEndpoint = (ask: SendRequest, url: string, timeout: number) => {
  const base = url.replace(/\/+$/, '')
  const limits = { timeout, maxBytes: response.metricsBytes }
  return {
    /** Host and port: a path may contain a key. */
    name: new URL(url).host,
    /** Posts alerts. Throws a NoResponseError if there is no response. */
    send: async (alerts: readonly unknown[], signal: AbortSignal) =>
      ask({ url: `${base}/api/v2/alerts`, ...posted(alerts), ...limits, signal }),
    get: async (path: string, signal: AbortSignal) => ask({ url: `${base}${path}`, accept: '*/*', ...limits, signal }),
  }
}

export type Endpoints = ReturnType<typeof createEndpoints>

/** The endpoints that collectors use. `timeout` in milliseconds. */
export const createEndpoints = (ask: SendRequest, clock: Pick<Clock, 'elapsed'>) => ({
  rpcAt: (url: string, timeout: number) => createRpcEndpoint(ask, url, timeout),
  batchingRpcAt: (url: string, timeout: number) => createBatchingRpcEndpoint(ask, url, timeout),
  queryAt: (service: QueryService, timeout: number) => createQueryEndpoint(ask, service, timeout),
  nativeAt: (url: string, timeout: number) => askRarelyIfNeverThere(createMetricsEndpoint(ask, url, timeout), clock),
  alertmanagerAt: (url: string, timeout: number) => createAlertmanagerEndpoint(ask, url, timeout),
  /** Sends to the URL in that file. */
  heartbeatTo: (urlFile: string, timeout: number) => createHeartbeat(ask, urlFile, timeout),
  /** Tests a TCP port, HOST:PORT. */
  probeFor: createPortProbe,
})

/** An agent on loopback responds at once; on a busy host within seconds. */
const AGENT_TIMEOUT_MS = 10_000

/** A listener on a wildcard address answers on IPv4, also on a host without IPv6. */
const connectTo = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host)

export interface AgentAddress {
  readonly listen: { readonly host: string; readonly port: number }
  readonly web: { readonly configFile: string | null }
  readonly state: { readonly directory: string }
}

/**
 * The Unix socket on which an agent with TLS or passwords serves the commands of this host; null without. They have
 * neither its password, of which its file contains a hash only, nor a certificate of a client.
 */
export const socketOf = ({ web, state }: Pick<AgentAddress, 'web' | 'state'>): string | null =>
  web.configFile === null ? null : join(state.directory, 'agent.sock')

/**
 * The API of the agent that runs on this host. `url` is that of an agent on another host, and may have a user name and a
 * password, which no error shows.
 */
export const createAgentApi = (ask: SendRequest, config: AgentAddress, url?: string) => {
  const { host, port } = config.listen
  const base = url ?? `http://${hostAndPort({ host: connectTo(host), port })}`
  const socketPath = url === undefined ? socketOf(config) : null
  const doing = `request data from the agent at ${socketPath ?? redactUrl(base)}`
  return {
    /**
     * Requests a path. Returns null if the connection is refused: the agent is not running. Throws a SourceError if the
     * response is not that of an agent.
     */
    get: async (path: string, signal: AbortSignal): Promise<string | null> => {
      const limits = { timeout: AGENT_TIMEOUT_MS, maxBytes: response.agentBytes }
      const request = { url: `${base}${path}`, accept: '*/*', ...limits, signal }
      const answer = await ask({ ...request, ...(socketPath !== null && { socketPath }) }).catch((error: unknown) => {
        if (!(error instanceof NoResponseError) || error.timeout) throw error
        // An agent that is stopping closes the connection; only these mean that no agent runs.
        if (error.detail === 'ECONNREFUSED' || (socketPath !== null && error.detail === 'ENOENT')) return null
        if (error.detail === 'EACCES')
          throw new SourceError(
            {
              doing,
              happened: 'permission denied: the socket is for the user of the agent and its group',
              advice: 'run the command with sudo, or add this user to the group of the socket (`ls -l` prints it)',
            },
            { cause: error },
          )
        // A TLS server closes a connection without TLS, and so does an agent that is stopping.
        if (socketPath === null && error.detail === 'ECONNRESET')
          throw new SourceError({ doing, happened: error.happened, advice: TLS }, { cause: error })
        throw error
      })
      if (answer === null) return null
      if (answer.status === 200) return answer.text
      throw new SourceError({
        doing,
        happened: `HTTP status ${answer.status} for ${path}`,
        advice: PROTECTED.has(answer.status)
          ? TLS
          : 'another program or an older agent listens there: check `listen:` in the configuration',
      })
    },
  }
}

/** Responses of an agent with a web configuration file. */
const PROTECTED: ReadonlySet<number> = new Set([401, 403])

const TLS =
  'if the agent uses TLS or passwords, use its configuration, or the same --web.config.file: commands then use its socket'

/** A busy host accepts a connection within this time. */
const CONNECT_TIMEOUT_MS = 2000

/** Whether a process accepts TCP connections on the port. Nothing is sent. */
export const isPortInUse = async ({ host, port }: AgentAddress['listen'], signal: AbortSignal): Promise<boolean> =>
  (await createPortProbe(hostAndPort({ host: connectTo(host), port }), CONNECT_TIMEOUT_MS)(signal)) === 'open'
