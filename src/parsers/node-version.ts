import { z } from 'zod'
import { ParseError } from '../core/errors.ts'
import { tryJson } from '../core/json.ts'

/** The version of a node program as it reports it. Null is a value that is missing or empty. */
export interface NodeVersion {
  readonly program: string | null
  /** `0.14.2-rc` of the tag `v0.14.2-rc`. */
  readonly version: string | null
  readonly tag: string | null
  readonly commit: string | null
  readonly branch: string | null
  /** Also true in official builds. */
  readonly modified: boolean | null
}

const orNull = z
  .string()
  .nullish()
  .transform((value) => value || null)
const build = z
  .object({
    tag: orNull,
    commit: orNull,
    branch: orNull,
    modified: z
      .boolean()
      .nullish()
      .transform((value) => value ?? null),
  })
  .refine(({ tag, commit }) => tag !== null || commit !== null)

const JSON_LINE = /^(?:([\w.-]+) )?(\{.*\})$/
const PLAIN_LINE = /^([\w.-]+) v?(\d+\.\d+\.\d+[\w.+~-]*)$/
const TAG = /^v?(\d+\.\d+\.\d+[\w.+~-]*)$/

/** Parses the output of `--version` of a node program. Throws a ParseError. */
export const parseNodeVersion = (text: string): NodeVersion => {
  for (const line of text.split('\n').map((one) => one.trim())) {
    const [, program = null, json] = JSON_LINE.exec(line) ?? []
    const { data } = build.safeParse(tryJson(json ?? ''))
    if (data) {
      const [, version = null] = TAG.exec(data.tag ?? '') ?? []
      return { program, version, ...data }
    }
    const [, name, version] = PLAIN_LINE.exec(line) ?? []
    if (name !== undefined && version !== undefined) {
      return { program: name, version, tag: null, commit: null, branch: null, modified: null }
    }
  }
  throw new ParseError('the version of the node', 'NAME {"tag":…} or NAME x.y.z', text)
}
