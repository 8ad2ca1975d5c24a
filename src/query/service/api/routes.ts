import { type IncomingMessage } from 'node:http'
import { HttpError } from './http-error.ts'

export interface Route {
  readonly name: '/query' | '/height'
  readonly allow: string
}

const ROUTES: readonly Route[] = [
  { name: '/query', allow: 'POST, OPTIONS' },
  { name: '/height', allow: 'GET, HEAD, OPTIONS' },
]

/** The request path without the query string, which this API does not use. */
export const pathOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''

/** Throws an HttpError for an unknown route or a method that the route does not allow. */
export const routeOf = (request: IncomingMessage): Route => {
  const name = pathOf(request)
  const route = ROUTES.find((one) => one.name === name)
  if (!route)
    throw new HttpError(
      'not_found',
      name.startsWith('/query/')
        ? 'only JSON queries are supported, at /query'
        : 'not found; the endpoints are POST /query and GET /height',
    )
  if (route.allow.split(', ').includes(request.method ?? '')) return route
  throw new HttpError('method_not_allowed', `${name} allows ${route.allow}`, {
    headers: { allow: route.allow },
  })
}
