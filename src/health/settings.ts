import { z } from 'zod'
import { NODE_ROLES } from './role.ts'
import { DEFAULT_TUNING } from './rules/tuning.ts'
import { alertProblem, readLimits } from './rules/read-limits.ts'

const OBJECTIVE = 'expected a ratio from 0.95 to 0.9999'

const limits = z
  .record(z.string(), z.record(z.string(), z.union([z.string(), z.number()], 'expected a number or text')))
  .transform((written, context) => {
    const read = readLimits(written)
    for (const { path, message } of read.problems) context.addIssue({ code: 'custom', path: [...path], message })
    return read.limits
  })

const alert = z.string().superRefine((name, context) => {
  const message = alertProblem(name)
  if (message !== undefined) context.addIssue(message)
})

/** How the health of the node is judged: by the agent, and in the rules that `chain-agent rules` writes. */
export const health = z
  .strictObject({
    role: z
      .enum(['auto', ...NODE_ROLES])
      .default('auto')
      .describe('what the node is for: validator, full-node, rpc; auto: validator or full-node, by its stake'),
    objective: z
      .number()
      .min(0.95, OBJECTIVE)
      .max(0.9999, OBJECTIVE)
      .default(DEFAULT_TUNING.objective)
      .describe('the ratio of a week in which the node should have a fresh block'),
    limits: limits
      .prefault({})
      .describe(
        'limits of alerts, by NAME or NAME.why: {ChainBehind: {warning: 8s, critical: 30s, for: 2m}}; docs/how-to/alerts.md',
      ),
    disable: z.array(alert).default([]).describe('alerts that are not evaluated: NAME for all its rows, or NAME.why'),
  })
  .prefault({})
