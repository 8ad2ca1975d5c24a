import { z } from 'zod'
import type { Evidence } from './finding.ts'
import { timestamp } from './picture.ts'
import { roughly } from './words.ts'

export interface Announced {
  readonly reason: string
  /** Milliseconds since the epoch. */
  readonly until: number
  /** In words. */
  readonly left: string
}

const schema = z.object({ reason: z.string(), until: timestamp })

/** Maintenance as it is announced now; undefined where none is. */
export const announced = ({ collectors, at }: Evidence): Announced | undefined => {
  const told = collectors.find(({ name }) => name === 'maintenance')
  const { data } = schema.safeParse(told?.reading)
  if (!data) return undefined
  const { reason, until } = data
  return until <= at ? undefined : { reason, until, left: roughly(until - at) }
}
