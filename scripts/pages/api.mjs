// docs/reference/api.md and page/openapi.json: the API of the agent, from the schemas of its JSON.
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { API_SCHEMAS } from '../../.cache/modules/src/parsers/agent-api.js'

/**
 * What a request of each path may cost, for a validator with 950 series, an hour of history and 1,000 state changes: CPU time
 * of the agent in ms on a core at 2.6 GHz, and the response in KiB, not compressed.
 */
const ROUTE_BUDGETS = JSON.parse(readFileSync(new URL('route-budgets.json', import.meta.url), 'utf8'))

/** The paths under /api/v1/; `body` is the name of a schema. */
const ENDPOINTS = {
  overview: { summary: 'Everything on the status page', body: 'Overview' },
  status: { summary: 'The last reading of each collector', body: 'Status' },
  health: { summary: 'The alert rules whose conditions are true', body: 'Health' },
  events: {
    summary: 'State changes',
    body: 'Events',
    parameters: [
      {
        name: 'since',
        in: 'query',
        description: 'Only events at or after this time: RFC 3339, or seconds since the epoch.',
        schema: { type: 'string' },
      },
      {
        name: 'after',
        in: 'query',
        description: 'Only events with a greater id.',
        schema: { type: 'integer', minimum: 0 },
      },
      {
        name: 'limit',
        in: 'query',
        description: 'At most this number of events, the newest.',
        schema: { type: 'integer', minimum: 1, maximum: 100_000, default: 1000 },
      },
    ],
    errors: { 400: 'A parameter is invalid; the body names it.' },
  },
  heartbeat: {
    method: 'post',
    summary: 'Receives the heartbeat of the agent of another node',
    description: 'Only with `watched.name`. The document is that of docs/how-to/heartbeat.md, at most 64 KiB.',
    type: 'text/plain',
    errors: {
      400: 'The body is not the document of an agent; the text names the field.',
      411: 'The request has no `Content-Length`.',
      413: 'The body is longer than 64 KiB.',
      403: 'The request has an `Origin` header: it comes from a browser.',
      404: 'This agent watches no other node.',
    },
  },
  'openapi.json': { summary: 'This API as an OpenAPI 3.1 document', description: 'The document is static.' },
}

/** Of every path. The body is one line of text. */
const ERRORS = {
  400: 'The request is malformed or has no `Host` header.',
  401: 'A user name and password of `basic_auth_users` are required.',
  403: 'A client certificate is required, the one that was sent is not accepted, or a page of another site sent the request.',
  404: 'There is no such path.',
  405: 'The method is not one of the `Allow` header.',
  417: 'The request has an `Expect` header other than `100-continue`.',
  421: 'The name in the `Host` header is not one of this server: use its IP address, or add the name to `web.hosts`.',
  431: 'The request line and the headers are longer than 8 KiB.',
  500: 'The response could not be rendered; the log has the reason.',
  503: 'Too many passwords are being checked; `Retry-After` has the seconds to wait.',
}

const refTo = (name) => `#/components/schemas/${name}`

const schemas = () => {
  const registry = z.registry()
  for (const [id, schema] of Object.entries(API_SCHEMAS)) registry.add(schema, { id })
  const { schemas: all } = z.toJSONSchema(registry, {
    // Clients accept fields that they do not know.
    io: 'input',
    uri: refTo,
    override: ({ jsonSchema }) => {
      // What only restates the type.
      for (const key of ['$schema', '$id', 'readOnly', 'propertyNames']) delete jsonSchema[key]
      if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    },
  })
  return Object.fromEntries(Object.keys(API_SCHEMAS).map((name) => [name, withoutIds(all[name])]))
}

/** They are added after `override`. */
const withoutIds = ({ $schema: _schema, $id: _id, id: _name, ...schema }) => schema

const contentOf = ({ type = 'application/json', body }) => ({
  [type]: { schema: body ? { $ref: refTo(body) } : { type: type === 'application/json' ? 'object' : 'string' } },
})
const textOf = (description) => ({ description, content: { 'text/plain': { schema: { type: 'string' } } } })

const document = () => ({
  openapi: '3.1.0',
  info: {
    title: 'chain-agent',
    version: '1',
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    description:
      'What the agent has in memory about the node: no request causes load on the node. Timestamps are RFC 3339, durations are in seconds, 64-bit integers of readings are decimal strings, unknown is null. Fields may be added.',
  },
  servers: [{ url: '/' }],
  security: [{}, { basic: [] }, { certificate: [] }],
  paths: Object.fromEntries(
    Object.entries(ENDPOINTS).map(([path, endpoint]) => {
      const { method = 'get', summary, description, parameters, errors = {} } = endpoint
      return [
        `/api/v1/${path}`,
        {
          [method]: {
            operationId: path.replaceAll(/\W+(\w?)/g, (_, letter) => letter.toUpperCase()),
            summary,
            ...(description && { description }),
            ...(parameters && { parameters }),
            ...(method === 'post' && {
              requestBody: { content: { 'application/json': { schema: { type: 'object' } } } },
            }),
            responses: {
              200: { description: summary, content: contentOf(endpoint) },
              ...Object.fromEntries(Object.entries(errors).map(([status, text]) => [status, textOf(text)])),
              default: { $ref: '#/components/responses/Error' },
            },
          },
        },
      ]
    }),
  ),
  components: {
    schemas: schemas(),
    responses: { Error: textOf('An error, in one line: what happened and what to do.') },
    securitySchemes: {
      basic: { type: 'http', scheme: 'basic', description: 'With `basic_auth_users` in the web configuration.' },
      certificate: { type: 'mutualTLS', description: 'With `client_auth_type` in the web configuration.' },
    },
  },
})

export const renderOpenApi = () => `${JSON.stringify(document(), null, 1)}\n`

export const renderApiPage = () => {
  const { components } = document()
  return `${[
    HEAD,
    '| path | response | parameters | status codes |',
    '|---|---|---|---|',
    ...Object.entries(ENDPOINTS).map(endpointRow),
    '',
    EXPLANATION,
    '## Errors',
    '',
    'The body of an error is one line of text: what happened and what to do. Of every path:',
    '',
    '| status | reason |',
    '|---|---|',
    ...Object.entries(ERRORS).map(([status, reason]) => `| ${status} | ${reason} |`),
    '',
    '## Cost of a request',
    '',
    'At most, for a validator with 950 series, an hour of history and 1,000 state changes: the CPU time of the agent on a core at 2.6 GHz, and the response, not compressed. A body that is received has at most 64 KiB. A test measures each path but the heartbeat.',
    '',
    '| path | CPU, ms | response, KiB |',
    '|---|---|---|',
    ...Object.entries(ROUTE_BUDGETS).map(
      ([path, { cpuMs, kib }]) => `| ${path.startsWith('/') ? `\`${path}\`` : path} | ${cpuMs} | ${kib} |`,
    ),
    '',
    '## Types',
    ...Object.entries(components.schemas).flatMap(([name, schema]) => [
      '',
      `### ${name}`,
      '',
      schema.description,
      '',
      '| field | type | meaning |',
      '|---|---|---|',
      ...fieldsOf(schema).map(([path, type, meaning]) => `| \`${path}\` | ${type} | ${meaning} |`),
    ]),
  ].join('\n')}\n`
}

const endpointRow = ([path, { summary, body, parameters = [], errors = {} }]) => {
  const response = body ? `[${body}](#${body.toLowerCase()}): ${lowered(summary)}` : lowered(summary)
  const named = parameters.map(({ name, description }) => `\`${name}\`: ${lowered(description)}`)
  const codes = ['200', ...Object.entries(errors).map(([status, reason]) => `${status}: ${lowered(reason)}`)]
  return `| \`/api/v1/${path}\` | ${response} | ${named.join('<br>')} | ${codes.join('<br>')} |`
}

const lowered = (text) => `${text.charAt(0).toLowerCase()}${text.slice(1)}`.replace(/\.$/, '')

/** Every field: objects within are flattened, `[]` is an element of a list, `*` a name. */
const fieldsOf = ({ properties }, path = '') =>
  Object.entries(properties).flatMap(([name, schema]) => {
    const at = `${path}${name}`
    const [inner, suffix] = schema.type === 'array' ? [schema.items, '[]'] : [schema, '']
    const nested = inner.properties ? fieldsOf(inner, `${at}${suffix}.`) : []
    if (schema.description) return [[at, typeOf(schema), schema.description], ...nested]
    if (nested.length === 0) throw new Error(`The schema of ${at} in src/parsers/agent-api.ts has no description.`)
    return nested
  })

const typeOf = (schema) => {
  if (schema.$ref) {
    const name = schema.$ref.slice(refTo('').length)
    return `[${name}](#${name.toLowerCase()})`
  }
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ')
  if (Array.isArray(schema.type)) return schema.type.join(' or ')
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ')
  if (schema.prefixItems) return `[${schema.prefixItems.map(typeOf).join(', ')}]`
  if (schema.format === 'date-time') return 'time'
  if (schema.type === 'array') return `list of ${grouped(typeOf(schema.items))}`
  if (schema.additionalProperties) return `map of ${grouped(typeOf(schema.additionalProperties))}`
  return schema.type ?? 'any'
}

const grouped = (type) => (type.includes(' or ') ? `(${type})` : type)

const HEAD = `# The agent's API

Generated from \`src/parsers/agent-api.ts\` by \`npm run generate\`. As an OpenAPI 3.1 document: [page/openapi.json](../../page/openapi.json), which the
agent serves at \`/api/v1/openapi.json\`.

For programs that read the state of a node. Alerts and dashboards read [/metrics](metrics.md); people read the [status page](status-page.md).
The API is on the listener of the agent (\`http://127.0.0.1:9843\`), with its [TLS and passwords](../how-to/tls.md). Except for the heartbeats that it receives, it answers GET and HEAD from what the
agent has in memory: no request causes load on the node.

<!-- run: node -->

\`\`\`sh
curl -s http://127.0.0.1:9843/api/v1/health
\`\`\`

- \`time\` is RFC 3339 in UTC with milliseconds. Durations are in seconds; a field with another unit has it in its meaning.
- Unknown is \`null\`. 64-bit integers and amounts in readings and values are decimal strings.
- Every field is present. Fields may be added: ignore those that you do not know. CHANGELOG.md lists each name that changes.
- The fields of a \`reading\` are not listed here. Their units are in their names: \`…At\` is a time, \`…Seconds\`, \`…Bytes\`; the \`samples\` of \`host\` have
  the names and units of \`/metrics\`. Programs that need single values read [/metrics](metrics.md), where each is documented.
- A text may quote a log line. Secrets in it are redacted by [patterns](../../SECURITY.md#redaction). It is not HTML: escape it.

## Endpoints
`

const EXPLANATION = `
To follow state changes, read \`/api/v1/events\` with \`after\`.
`.trimStart()
