import { createHash, timingSafeEqual } from 'node:crypto'
import { type IncomingHttpHeaders } from 'node:http'
import { type Secret } from '../../../core/secret.ts'
import { Refusal } from './refusal.ts'

/** Whose request it is: a name for its budget. Throws where a key is needed and none of them came. */
export type Door = (headers: IncomingHttpHeaders, address: string) => string

/**
 * Every key is compared with what came, by digests: how long that takes tells neither how much of a key was
 * right nor which one. Without keys all may enter, each address by its own name.
 */
export const createDoor = (keys: readonly Secret[]): Door => {
  const digests = keys.map((key) => digest(key.reveal()))
  return (headers, address) => {
    if (digests.length === 0) return address
    const came = presented(headers).map(digest)
    let found = -1
    for (const [index, known] of digests.entries())
      for (const one of came) if (timingSafeEqual(known, one)) found = index
    if (found === -1)
      throw new Refusal(
        'unauthorized',
        came.length === 0
          ? 'an API key is needed: send it as Authorization: Bearer KEY'
          : 'the API key is not one of this service',
        { headers: { 'www-authenticate': 'Bearer' } },
      )
    return `key ${found}`
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

const presented = (headers: IncomingHttpHeaders): readonly string[] => {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const plain = headers['x-api-key']
  return [bearer, plain].filter((key) => typeof key === 'string')
}
