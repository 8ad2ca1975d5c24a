import { type IncomingMessage } from 'node:http'
import { Refusal } from './refusal.ts'

export interface Path {
  readonly name: '/query' | '/height'
  readonly allow: string
}

const PATHS: readonly Path[] = [
  { name: '/query', allow: 'POST, OPTIONS' },
  { name: '/height', allow: 'GET, HEAD, OPTIONS' },
]

/** Without what follows a question mark: nothing here is asked for by that. */
export const nameOf = ({ url = '' }: IncomingMessage): string => url.split('?', 1)[0] ?? ''

/** Throws where there is no such path, or not by this method. */
export const routeOf = (request: IncomingMessage): Path => {
  const name = nameOf(request)
  const path = PATHS.find((one) => one.name === name)
  if (!path)
    throw new Refusal(
      'not_found',
      name.startsWith('/query/')
        ? 'queries are answered as JSON alone, at /query'
        : 'there are POST /query and GET /height',
    )
  if (path.allow.split(', ').includes(request.method ?? '')) return path
  throw new Refusal('method_not_allowed', `${name} takes ${path.allow}`, {
    headers: { allow: path.allow },
  })
}
