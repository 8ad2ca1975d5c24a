import { Writable } from 'node:stream'
import { createStyle } from '../../src/cli/terminal/style.ts'
import { type Page, renderPage } from '../../src/commands/status/page.ts'
import { createView } from '../../src/commands/status/section.ts'
import { sectionsFor } from '../../src/commands/status/sections.ts'
import { readConfig } from '../../src/config/load.ts'
import { toApiJson } from '../../src/core/json.ts'
import { createSampleIndex } from '../../src/core/sample-index.ts'
import type { Sample } from '../../src/core/metric.ts'
import type { CollectorStatus } from '../../src/health/snapshot.ts'

export const NOON = Date.UTC(2026, 2, 1, 12)

interface Knowledge {
  /** By collector, as it comes over the agent's API. */
  readonly readings?: Readonly<Record<string, unknown>>
  readonly samples?: readonly Sample[]
  /** Of collectors that have more to tell than a reading. */
  readonly told?: readonly (Pick<CollectorStatus, 'name'> & Partial<CollectorStatus>)[]
}

/** What sections make of readings and metrics, three seconds old at noon. */
export const statusPage = (sections: readonly string[], knowledge: Knowledge): Page => {
  const { readings = {}, samples = [], told = [] } = knowledge
  const prefix = { path: 'prefix', value: 'chain', typed: '--prefix' }
  const { config } = readConfig(undefined, { env: {}, flags: [prefix] })
  const fresh = { help: '', enabled: true, up: true, lastSuccessAt: NOON - 3000, error: null }
  const snapshot = {
    at: NOON,
    origin: 'agent' as const,
    version: '1',
    prefix: 'chain',
    collectors: [
      ...Object.entries(readings).map(([name, reading]) => ({
        ...fresh,
        name,
        reading: toApiJson(reading),
      })),
      ...told.map((one) => ({ ...fresh, reading: null, ...one })),
    ],
    known: createSampleIndex(samples),
    metrics: '',
  }
  return {
    view: createView(snapshot),
    verdict: { word: 'OK', sentence: '', findings: [], exitCode: 0 },
    listen: config.listen,
    source: null,
    sections: sections.flatMap((name) => sectionsFor(name, config)),
  }
}

/** As in a pipe. */
export const shownIn = (page: Page): string =>
  renderPage(page, createStyle({ stdout: new Writable(), env: {} })).join('\n')
