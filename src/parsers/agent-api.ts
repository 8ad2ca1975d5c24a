import { z } from 'zod'
import { TONES } from '../domain/health.ts'
import { ROUND_STATES } from '../domain/round.ts'
import * as status from './agent-status.ts'
import { eventResponse, eventsResponse } from './event.ts'

/**
 * The JSON of the agent's API. Renderers have these types, and docs/reference/api.md and page/openapi.json are generated from the
 * schemas. Commands load only those with which they read: agent-status.ts and event.ts.
 */

const { text, textOrNull, texts, time } = status
const tone = z.enum(TONES).nullable()

const consequence = z.object({
  name: text.describe('The name of the alert.'),
  severity: status.causeSeverity.describe('How severe it is.'),
  summary: text.describe('One sentence without its full stop.'),
})

const findingResponse = consequence
  .extend({
    name: text.describe('The name of the alert; without one, words that begin with a small letter.'),
    timing: textOrNull.describe(
      'How long it has lasted and, if its alert does not fire yet, when it will; null if neither is known.',
    ),
    evidence: texts.describe('The evidence, one fact each.'),
    advice: texts.describe('What to do, one step each; commands are between backticks.'),
    consequences: z.array(consequence).readonly().describe('What follows from it, and ends with it.'),
    runbook: textOrNull.describe('The path of the runbook; null if there is none.'),
  })
  .describe('A problem or notable state of the node or its host: all subjects of one alert.')

const figureResponse = z
  .object({
    name: text.describe('The name, for programs.'),
    label: text.describe('The label on the page.'),
    value: textOrNull.describe('The value with its unit, as on the page; null is unknown.'),
    unknownBecause: textOrNull.describe('Why it is unknown; null if it is known.'),
    limit: textOrNull.describe('The limits of its alert in words; null without any.'),
    tone: tone.describe('The severity or emphasis; null for none.'),
    history: z
      .array(z.number().nullable())
      .readonly()
      .nullable()
      .describe(
        'The last hour, one number for each 15 s, oldest first: blocks, blocks per second, seconds, services, or a ratio; null where it was unknown. Null if it has no history.',
      ),
  })
  .describe('A number that decides about the state, next to the limit of its alert.')

const roundResponse = z
  .object({
    round: text.describe('The number of the round.'),
    state: z
      .enum(ROUND_STATES)
      .describe('What the ledger stream reported last of it; skipped: between a block and its parent.'),
    leader: textOrNull.describe('The public key of the leader; null if it is skipped.'),
    at: time.describe('When its first line was written.'),
    isOwn: z.boolean().nullable().describe('Whether the node led it; null if unknown.'),
  })
  .describe('A round of consensus.')

const factResponse = z
  .object({
    label: text.describe('What the value is.'),
    text: text.describe('The value as text, or why it is unknown.'),
    value: z.unknown().describe('The value as JSON; null is unknown.'),
    tone: tone.describe('The severity or emphasis; null for none.'),
  })
  .describe('One value of the node.')

const sectionResponse = z
  .object({
    name: text.describe('The name, as in `chain-agent status NAME`.'),
    summary: textOrNull.describe('The section in one line; null is unknown, or the section has none.'),
    tone: tone.describe('The severity or emphasis of the summary; null for none.'),
    unknownBecause: texts.describe('Why parts of it are unknown.'),
    groups: z
      .array(
        z.object({
          source: text.describe('The source of the values.'),
          readAt: time.nullable().describe('When they were read; null if there is no reading.'),
          facts: z.array(factResponse).readonly().describe('The values.'),
        }),
      )
      .readonly()
      .describe('The values by source: those of one group have one age.'),
  })
  .describe('The values of one subject.')

const overviewResponse = z
  .object({
    at: time.describe('The time of the values, at most a second ago.'),
    version: text.describe('The version of the agent.'),
    hostName: textOrNull.describe('The name of the host.'),
    verdict: z.object({
      word: z.enum(['OK', 'WARNING', 'CRITICAL', 'UNKNOWN', 'MAINTENANCE']).describe('The state in a word.'),
      sentence: text.describe('The reason for the state.'),
      exitCode: z
        .literal([0, 1, 2])
        .describe('As of `chain-agent check`: 0 healthy, 1 needs attention, 2 does not work or is unknown.'),
      since: time.describe('When the state began.'),
    }),
    recovery: z
      .object({
        path: text.describe('The recovery procedure that the node needs now; `none` if it needs none.'),
        summary: text.describe('The procedure in one sentence without its full stop, as in `chain-agent recover`.'),
        left: textOrNull.describe(
          'How long a start or restart of the services is enough; null if no time is running out.',
        ),
      })
      .describe('What to do with the node.'),
    incident: textOrNull.describe(
      'The incident with the evidence of the time at which the first critical alert fired, for `chain-agent incident` on the host; null if none is kept.',
    ),
    findings: z
      .array(findingResponse)
      .readonly()
      .describe('The causes of the state, most severe first, each with what follows from it.'),
    rounds: z.array(roundResponse).readonly().describe('The newest rounds of the ledger stream, oldest first.'),
    roundsUnknownBecause: textOrNull.describe('Why later rounds are unknown; null if the ledger stream is read.'),
    figures: z.array(figureResponse).readonly().describe('The key figures, in the order of the page.'),
    sections: z.array(sectionResponse).readonly().describe('The sections, in the order of the page.'),
    events: z.array(eventResponse).readonly().describe('The newest 50 state changes, newest first.'),
  })
  .describe('Everything on the status page.')

/** All of them, by their names in the documentation. */
export const API_SCHEMAS = {
  Overview: overviewResponse,
  Finding: findingResponse,
  KeyFigure: figureResponse,
  Section: sectionResponse,
  Fact: factResponse,
  Status: status.statusResponse,
  Collector: status.collectorResponse,
  Health: status.healthResponse,
  RuleFinding: status.ruleFindingResponse,
  Events: eventsResponse,
  Event: eventResponse,
}

type Responses = { [Name in keyof typeof API_SCHEMAS]: z.output<(typeof API_SCHEMAS)[Name]> }

export type OverviewResponse = Responses['Overview']
export type FindingResponse = Responses['Finding']
export type StatusResponse = Responses['Status']
export type HealthResponse = Responses['Health']
export type EventsResponse = Responses['Events']
