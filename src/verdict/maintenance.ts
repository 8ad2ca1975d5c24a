import { z } from 'zod'
import type { Evidence } from './finding.ts'
import { roughly } from './words.ts'

export interface Announced {
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly until: number
  /** In words. */
  readonly left: string
}

const schema = z.object({ reason: z.string(), until: z.iso.datetime() })

/** Maintenance as it is announced now; undefined where none is. */
export const announced = ({ collectors, at }: Evidence): Announced | undefined => {
  const told = collectors.find(({ name }) => name === 'maintenance')
  const { data } = schema.safeParse(told?.reading)
  if (!data) return undefined
  const until = Date.parse(data.until)
  return until <= at ? undefined : { reason: data.reason, until, left: roughly(until - at) }
}
