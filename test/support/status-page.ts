import { Writable } from 'node:stream'
import { createStyle } from '../../src/terminal/style.ts'
import { type Page, renderPage } from '../../src/commands/status/page.ts'
import { createView } from '../../src/health/sections/section.ts'
import { sectionsFor } from '../../src/health/sections/sections.ts'
import { readConfig } from '../../src/config/load.ts'
import { toApiJson } from '../../src/core/json.ts'
import { createSampleIndex, type Sample } from '../../src/core/metric.ts'
import type { CollectorState } from '../../src/health/snapshot.ts'
import { decodeReadings } from '../../src/commands/shared/agent-snapshot.ts'
import { snapshotWith } from './snapshot.ts'

export const NOON = Date.UTC(2026, 2, 1, 12)

interface Knowledge {
  /** By collector, as it comes over the agent's API. */
  readonly readings?: Readonly<Record<string, unknown>>
  readonly samples?: readonly Sample[]
  /** Of collectors that have more to report than a reading. */
  readonly collectors?: readonly (Pick<CollectorState, 'name'> & Partial<CollectorState>)[]
}

/** What sections make of readings and metrics, three seconds old at noon. */
export const statusPage = (sections: readonly string[], knowledge: Knowledge): Page => {
  const { readings = {}, samples = [], collectors = [] } = knowledge
  const prefix = { path: 'prefix', value: 'chain', typed: '--prefix' }
  const { config } = readConfig(undefined, { env: {}, flags: [prefix] })
  const fresh = { help: '', enabled: true, up: true, lastSuccessAt: NOON - 3000, error: null }
  const snapshot = snapshotWith({
    at: NOON,
    collectors: [
      ...Object.keys(readings).map((name) => ({ ...fresh, name, hasReading: true })),
      ...collectors.map((one) => ({ ...fresh, hasReading: false, ...one })),
    ],
    readings: decodeReadings(
      Object.fromEntries(Object.entries(readings).map(([name, reading]) => [name, toApiJson(reading)])),
    ),
    known: createSampleIndex(samples),
  })
  return {
    view: createView(snapshot),
    listen: config.listen,
    source: null,
    sections: sections.flatMap((name) => sectionsFor(name, config)),
  }
}

/** As in a pipe. */
export const shownIn = (page: Page): string =>
  renderPage(page, createStyle({ stdout: new Writable(), env: {} })).join('\n')
