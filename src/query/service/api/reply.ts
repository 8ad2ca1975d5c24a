import { type Refusal } from './refusal.ts'

/** An answer before it is sent. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** How many are in it. */
  readonly logs: number
}

const JSON_TYPE = { 'content-type': 'application/json', 'cache-control': 'no-store' }

export const jsonReply = (body: Buffer, logs = 0): Reply => ({
  status: 200,
  headers: JSON_TYPE,
  body,
  logs,
})

export const emptyReply = (headers: Reply['headers']): Reply => ({
  status: 204,
  headers,
  body: Buffer.alloc(0),
  logs: 0,
})

export const refusalReply = ({ code, status, message, more }: Refusal): Reply => ({
  status,
  headers: { ...JSON_TYPE, ...more.headers },
  body: Buffer.from(
    JSON.stringify({
      error: {
        code,
        message,
        path: more.path ?? null,
        ...(more.first !== undefined && { first_block: more.first }),
      },
    }),
  ),
  logs: 0,
})
