import type { Clock } from '../../../src/core/clock.ts'
import type { BytesEncoding, Filter, LogStore } from '../../store/store.ts'
import { type QueryOptions, readHostedPage, readPage } from './answer.ts'
import { readBinaryRequest } from './binary/request.ts'
import { encodeBinary, notCached } from './binary/response.ts'
import { encodeHosted, encodeSpec, valueShareOfJson } from './encode-json.ts'
import type { Heights } from './heights.ts'
import type { QueryLimits } from './limits.ts'
import { createQueryParser, type Dialect, parseBody, type ParsedQuery } from './parse-query.ts'
import type { Reply } from './send.ts'

/** How a path asks and answers. Each function throws an HttpError or a StoreError. */
export interface QueryForm {
  /** A reply instead of a query if nothing has to be read. */
  readonly parse: (body: Buffer) => ParsedQuery | Reply
  readonly answer: (query: ParsedQuery, signal: AbortSignal) => Promise<Reply>
  readonly isJson: boolean
  /** Whether a request above the head waits for a block. */
  readonly holds: boolean
}

interface FormOptions {
  readonly store: LogStore
  readonly scope: Filter
  readonly heights: Heights
  readonly dialect: Dialect
  readonly limits: QueryLimits
  readonly clock: Clock
}

const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' }
const BINARY_TYPE = { 'content-type': 'application/x-capnp', 'cache-control': 'no-store' }

export const jsonReply = (body: Buffer, logs = 0): Reply => ({ status: 200, headers: JSON_TYPE, body, logs })
const binaryReply = (body: Buffer, logs = 0): Reply => ({ status: 200, headers: BINARY_TYPE, body, logs })

export const isReply = (value: ParsedQuery | Reply): value is Reply => 'status' in value

/** `/query` has the meaning of the configured dialect, the binary paths always that of the hosted service. */
export const createForms = (options: FormOptions) => {
  const { store, heights, limits, clock, dialect } = options
  const reading = (encoding: BytesEncoding, valueShare: QueryOptions['valueShare']): QueryOptions => ({
    store,
    heights,
    limits,
    clock,
    encoding,
    valueShare,
  })
  const asJson = reading('hex', valueShareOfJson)
  const asBytes = reading('latin1', () => 1)
  const readJson = (body: Buffer) => parseBody(body, { depth: limits.bodyDepth, values: limits.bodyValues })
  const parse = createQueryParser(options)
  const parseHosted = createQueryParser({ ...options, dialect: 'hosted' })

  const json: QueryForm = {
    parse: (body) => parse(readJson(body)),
    answer: async (query, signal) => {
      if (dialect === 'spec') {
        const page = await readPage(query, asJson, signal)
        return jsonReply(encodeSpec(page), page.logs.count)
      }
      const page = await readHostedPage(query, asJson, signal)
      return jsonReply(encodeHosted(page), sentLogs(query, page.logs?.count))
    },
    isJson: true,
    holds: false,
  }
  const binary: QueryForm = {
    parse: (body) => parseHosted(readJson(body)),
    answer: async (query, signal) => {
      const page = await readHostedPage(query, asBytes, signal)
      return binaryReply(encodeBinary(page), sentLogs(query, page.logs?.count))
    },
    isJson: true,
    holds: true,
  }
  const capnp: QueryForm = {
    ...binary,
    parse: (body) => {
      const request = readBinaryRequest(body, { bytes: limits.bodyBytes, values: VALUES_PER_VALUE * limits.bodyValues })
      // Without a cache a client sends the query itself, in a second request.
      return request === 'by id' ? binaryReply(notCached()) : parseHosted(request)
    },
    isJson: false,
  }
  return { json, binary, capnp }
}

/** A value in a binary request is read as an element of a list and as a list of bytes. */
const VALUES_PER_VALUE = 4

const sentLogs = ({ fields }: ParsedQuery, count = 0): number => (fields.length === 0 ? 0 : count)
