import { ConfigError, excerpt } from '../../core/errors.ts'
import { REDACTED, redactUrl } from '../../core/redact.ts'
import { QueryError } from './errors.ts'

/** Where the service is; what its errors may show of it; the header with the key. */
export interface Base {
  readonly url: URL
  readonly shown: string
  readonly headers: Readonly<Record<string, string>>
  /** Takes the key out of what the service sent, in every form in which it may have come back. */
  readonly redact: (text: string) => string
}

interface BaseOptions {
  readonly url: string
  readonly apiKey: string | null
  readonly header?: string | undefined
}

/** Throws a ConfigError for what can not be used, a QueryError('auth') for such a key, before anything is sent. */
export const createBase = ({ url, apiKey, header }: BaseOptions): Base => {
  const checked = checkUrl(url)
  return {
    url: checked,
    shown: redactUrl(checked.href),
    headers: apiKey === null ? {} : keyHeader(checkKey(apiKey), header),
    redact: redactor([...(apiKey === null ? [] : formsOf(checkKey(apiKey))), ...pathsOf(checked)]),
  }
}

/** The address of `path` under the base, whatever prefix that has. */
export const under = (base: URL, path: 'query' | 'height'): URL => {
  const url = new URL(base)
  url.pathname = `${base.pathname.replace(/\/+$/, '')}/${path}`
  return url
}

const checkUrl = (text: string): URL => {
  const refuse = (why: string): ConfigError =>
    new ConfigError(
      `The address of the query service can not be used: ${why}\n  it is: ${redactUrl(text)}\n  what to do: give the address alone, as https://host or https://host/prefix; the key goes into its own file`,
    )
  if (!URL.canParse(text)) throw refuse('it is no URL')
  const url = new URL(text)
  if (!/^https?:$/.test(url.protocol)) throw refuse('it is neither http:// nor https://')
  if (url.username !== '' || url.password !== '') throw refuse('a user or a password is in it')
  if (url.search !== '' || url.hash !== '') throw refuse('something follows its path')
  return url
}

const checkKey = (text: string): string => {
  const key = text.trim()
  if (key === '') throw badKey('it is empty')
  if (!/^[\x21-\x7e]+$/.test(key)) throw badKey('there is a space or a sign in it that none has')
  return key
}

const badKey = (why: string): QueryError =>
  new QueryError('auth', {
    doing: 'use the API key',
    happened: why,
    advice: 'give the key of the query service, and nothing else',
  })

const HEADER = /^[!#$%&'*+.^_`|~0-9a-z-]+$/i
/** Those that say how the request is to be read. */
const TAKEN =
  /^(?:host|connection|content-.*|transfer-encoding|accept.*|te|trailer|upgrade|expect|user-agent)$/i

/** Whether a header of this name could carry a key. */
export const carriesKey = (header: string): boolean => HEADER.test(header) && !TAKEN.test(header)

const keyHeader = (key: string, header: string | undefined): Record<string, string> => {
  if (header === undefined || header.toLowerCase() === 'authorization') {
    return { authorization: `Bearer ${key}` }
  }
  if (!carriesKey(header)) {
    throw new ConfigError(
      `The header ${excerpt(header)} can not carry the API key\n  what to do: name the header that the service wants it in, like X-Api-Key`,
    )
  }
  return { [header.toLowerCase()]: key }
}

const formsOf = (key: string): readonly string[] => [
  key,
  ...(['base64', 'base64url'] as const).flatMap((encoding) => [
    Buffer.from(key).toString(encoding).replace(/=+$/, ''),
    Buffer.from(`Bearer ${key}`).toString(encoding).replace(/=+$/, ''),
  ]),
  Buffer.from(key).toString('hex'),
]

/** A part of a path that is as long as this may be a key. */
const KEY_LENGTH = 8

/** Some services have the key in their address. */
const pathsOf = ({ pathname }: URL): readonly string[] => {
  const path = pathname.replace(/\/+$/, '')
  const parts = path.split('/').filter((part) => part.length >= KEY_LENGTH)
  const all = [...(path === '' ? [] : [path]), ...parts]
  return [...all, ...all.map(decoded)]
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Only the beginning of what a service says is shown; the rest, which may be long, is not looked through. */
const LOOKED_THROUGH = 65_536

/** Redacts a secret however its characters are written: plain, escaped, with spaces between. */
const redactor = (secrets: readonly string[]) => {
  // The longest first: a part must not be redacted in the middle of the longer one.
  const all = [...new Set(secrets)].toSorted((one, other) => other.length - one.length)
  const any = new RegExp(
    all.map((secret) => [...secret].map(anyForm).join(String.raw`\s*`)).join('|'),
    'gi',
  )
  return (text: string): string => {
    const begun = text.slice(0, LOOKED_THROUGH)
    return all.length === 0 ? begun : begun.replaceAll(any, REDACTED)
  }
}

const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

const anyForm = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  const hex = code.toString(16)
  const plain = character.replaceAll(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)
  const forms = [
    String.raw`\\?${plain}`,
    `%${hex.padStart(2, '0')}`,
    String.raw`\\u0*${hex}`,
    String.raw`\\x0*${hex}`,
    `&#0*${code};?`,
    `&#x0*${hex};?`,
    ...(NAMED[character] === undefined ? [] : [NAMED[character]]),
  ]
  return `(?:${forms.join('|')})`
}
