import { z } from 'zod'
import { schema } from './schema.ts'

/** A configuration key. */
export interface Key {
  /** `rpc.interval` */
  readonly path: string
  /** `CHAIN_AGENT_RPC_INTERVAL` */
  readonly variable: string
  readonly description: string
  /** The default value as written in a file. */
  readonly byDefault: unknown
  /** Whether a value from the environment or a flag is used as a string, or parsed as YAML. */
  readonly isText: boolean
}

const collect = (node: z.core.$ZodType, path: readonly string[]): readonly Key[] => {
  let inner = node
  let byDefault: unknown = null
  let description = ''
  for (;;) {
    description = z.globalRegistry.get(inner)?.description ?? description
    if (inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
      byDefault = inner.def.defaultValue
      inner = inner.def.innerType
    } else if (inner instanceof z.ZodNullable) inner = inner.def.innerType
    else if (inner instanceof z.ZodPipe) inner = inner.def.in
    else break
  }
  if (inner instanceof z.ZodObject) {
    return Object.entries<z.core.$ZodType>(inner.shape).flatMap(([key, child]) => collect(child, [...path, key]))
  }
  const isText = inner instanceof z.ZodString || inner instanceof z.ZodEnum
  return [{ path: path.join('.'), variable: variableOf(path), description, byDefault, isText }]
}

const variableOf = (path: readonly string[]): string =>
  `CHAIN_AGENT_${path
    .join('_')
    .replaceAll(/[A-Z]/g, (capital) => `_${capital}`)
    .toUpperCase()}`

/** All keys in documentation order, derived from the schema. */
export const keys: readonly Key[] = collect(schema, [])
