import { z } from 'zod'
import { FINDING_SEVERITIES, HEALTH_STATES } from '../domain/health.ts'

export const time = z.iso.datetime()
export const text = z.string()
export const textOrNull = text.nullable()
export const texts = z.array(text).readonly()
const severity = z.enum(FINDING_SEVERITIES)
/** Of a cause, which may be what is unknown. */
export const causeSeverity = z.enum(['critical', 'unknown', 'warning', 'info'])

export const collectorResponse = z
  .object({
    help: text.describe('What the collector reads, in one sentence.'),
    enabled: z.boolean().describe('False if it is disabled in the configuration, or has nothing to read.'),
    up: z
      .boolean()
      .nullable()
      .describe(
        'Whether the last attempt succeeded and is not overdue; null until the first attempt has ended or is overdue.',
      ),
    lastSuccessAt: time.nullable().describe('When the last reading was taken; null without one.'),
    error: textOrNull.describe('The error of the last attempt; null if it succeeded.'),
    errorCode: textOrNull.describe('The code of the error, for programs; null if it has none.'),
    advice: textOrNull.describe('What to do about the error.'),
    reading: z
      .unknown()
      .describe('The last reading; null if there is none or it is stale. Its fields may change with any version.'),
  })
  .describe('A collector and its last reading.')

export const statusResponse = z
  .object({
    agent: z.object({
      version: text.describe('The version of the agent.'),
      prefix: textOrNull.describe('The name prefix of units and tools; null while it is not known.'),
      startedAt: time.describe('When the agent started.'),
    }),
    collectors: z.record(text, collectorResponse).describe('By the name of the collector.'),
  })
  .describe('The last reading of each collector, with the reason if it is unknown.')

export const ruleFindingResponse = z
  .object({
    alert: text.describe(
      'The name of the alert and, if it has one, its label `why`: `ChainDiskFull.filling`; `/runbooks/ChainDiskFull#filling` is its runbook.',
    ),
    severity: severity.describe('The severity of the alert.'),
    component: text.describe('The part of the node that the alert is about.'),
    state: z.enum(['pending', 'firing']).describe('`pending` until the condition has held for `forSeconds`.'),
    countsAs: severity
      .nullable()
      .describe(
        'What it counts for in the state of the node; null if it is pending and may end by itself, or if its condition has ended.',
      ),
    since: time.describe('When the condition became true.'),
    forSeconds: z.number().describe('How long the condition must hold before the alert fires, in seconds.'),
    summary: text.describe('The summary of the alert.'),
    description: text.describe('The description of the alert, with its values.'),
    advice: texts.describe('What to do, one step each; commands are between backticks.'),
    explainedBy: texts.describe('The alerts of which it is a consequence.'),
    labels: z.record(text, text).describe('What it is about: service, device, fork and others.'),
    incident: text
      .optional()
      .describe(
        'The incident with the evidence of the time at which it fired, for `chain-agent incident` on the host; absent if none is kept.',
      ),
  })
  .describe('An alert rule whose condition is true, for one set of labels.')

export const healthResponse = z
  .object({
    state: z
      .enum(HEALTH_STATES)
      .describe(
        '`unknown` without a node or a block, on a watcher without a heartbeat, or if no evaluation succeeded.',
      ),
    since: time.describe('When the state began.'),
    unknownBecause: z
      .enum(['no evaluation', 'no node', 'no answer', 'no block', 'no heartbeat'])
      .nullable()
      .describe('Why the state is unknown; null if it is known.'),
    findings: z
      .array(ruleFindingResponse)
      .readonly()
      .describe('Those that count for most first, causes before consequences, then the oldest first.'),
    failures: texts.describe('Rules that could not be evaluated, with the reason: their conditions are unknown.'),
  })
  .describe('The health of the node by all alert rules, evaluated for the request.')

/** The same in the agent: times and durations in milliseconds, times since the epoch. */
export type RuleFinding = Omit<z.output<typeof ruleFindingResponse>, 'since' | 'forSeconds'> & {
  readonly since: number
  readonly for: number
}

/** The health of the node by all rules. */
export type Health = Omit<z.output<typeof healthResponse>, 'since' | 'findings'> & {
  readonly since: number
  readonly findings: readonly RuleFinding[]
}
