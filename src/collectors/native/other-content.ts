import { redactedExcerpt } from '../../core/errors.ts'
import type { HttpResponse } from '../../sources/http.ts'

type Response = Pick<HttpResponse, 'status' | 'text' | 'contentType' | 'firstBytes'>

interface Content {
  readonly name: string
  readonly isContent: (response: Response) => boolean
  readonly advice: string
}

const NO_ENCODING =
  'the server or a proxy compresses without a Content-Encoding header: configure it to send plain text'

const startsWith = ({ firstBytes = new Uint8Array() }: Response, bytes: readonly number[]): boolean =>
  bytes.every((byte, at) => firstBytes[at] === byte)

/** What else a server may return in place of the Prometheus text format; the first match is used. */
const CONTENTS: readonly Content[] = [
  { name: 'gzip', isContent: (response) => startsWith(response, [0x1f, 0x8b]), advice: NO_ENCODING },
  { name: 'zstd', isContent: (response) => startsWith(response, [0x28, 0xb5, 0x2f, 0xfd]), advice: NO_ENCODING },
  {
    name: 'protobuf',
    isContent: ({ contentType }) => /protobuf/i.test(contentType ?? ''),
    advice: 'the server or a proxy ignores the Accept header: configure it to return the text format 0.0.4',
  },
  {
    name: 'HTML',
    isContent: ({ text }) => /^\s*<(?:!doctype|html|head|body)\b/i.test(text),
    advice: 'another server or a login page responds there: check its address in the configuration',
  },
  {
    name: 'JSON',
    isContent: ({ text }) => /^\s*[[{]/.test(text),
    advice: 'another server responds there, or the path is wrong: check its address in the configuration',
  },
]

const SHOWN = 60

/** What came in place of the Prometheus text format, and what to do. `problem`: why it could not be parsed. */
export const describeOtherContent = (response: Response, problem: string): string => {
  const { status, text, contentType } = response
  const { name, advice } = CONTENTS.find(({ isContent }) => isContent(response)) ?? {
    name: problem,
    advice: 'check with curl what that address returns',
  }
  const type = contentType === undefined || contentType === null ? 'no Content-Type' : printable(contentType)
  return `invalid: ${name}, HTTP status ${status}, ${type}, begins with "${printable(text)}"; ${advice}`
}

/** Bytes that a terminal does not show are dots, as in a hex dump. */
const printable = (text: string): string =>
  redactedExcerpt(text)
    .replaceAll(/[^\u0020-\u007E]/g, '.')
    .slice(0, SHOWN)
