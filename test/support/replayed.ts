import { expect } from 'vitest'
import { z } from 'zod'
import { RECORDED_FROM } from './recording.ts'

/** The output of `chain-agent replay --json`. */
export const replaySchema = z.object({
  isWhole: z.boolean(),
  lines: z.number(),
  missingServices: z.array(z.string()),
  notEvaluated: z.array(z.string()),
  failures: z.array(z.string()),
  incidents: z.array(
    z.object({
      alerts: z.array(
        z.object({
          alert: z.string().nullable(),
          severity: z.string(),
          subject: z.string().nullable(),
          beganAt: z.string(),
          endedAt: z.string().nullable(),
          summary: z.string(),
        }),
      ),
    }),
  ),
})
type Incidents = z.output<typeof replaySchema>['incidents']

/**
 * The alerts of an incident, by severity, alert and subject, with the seconds at which they begin and end, and by how
 * much they may miss them.
 */
export type Planted = readonly (readonly [name: string, begins: number, ends: number, tolerance?: number])[]

/** Rules are evaluated every 15 s, on what was recorded until then. */
const TOLERANCE_S = 20

const nameOf = ({ severity, alert, subject }: Incidents[number]['alerts'][number]): string =>
  [severity, alert ?? 'none', subject].filter((word) => word !== null).join(' ')

const secondOf = (time: string | null): number => (Date.parse(time ?? '') - RECORDED_FROM) / 1000

export const namesOf = (incidents: Incidents): readonly (readonly string[])[] =>
  incidents.map(({ alerts }) => alerts.map(nameOf))

/** These and no others, when they were planted. */
export const expectPlanted = (found: Incidents, planted: readonly Planted[]): void => {
  expect(namesOf(found)).toEqual(planted.map((alerts) => alerts.map(([name]) => name)))
  for (const [at, { alerts }] of found.entries()) {
    for (const [index, { beganAt, endedAt }] of alerts.entries()) {
      const [name = '', begins = 0, ends = 0, tolerance = TOLERANCE_S] = planted[at]?.[index] ?? []
      const off = (time: string | null, expected: number) => Math.abs(secondOf(time) - expected)
      expect(off(beganAt, begins), `${name} begins`).toBeLessThanOrEqual(tolerance)
      expect(off(endedAt, ends), `${name} ends`).toBeLessThanOrEqual(tolerance)
    }
  }
}
