import type { Finding } from '../../health/finding.ts'
import type { Fact } from './fact.ts'
import { type Page, reasonsOf } from './page.ts'
import type { Section, View } from './section.ts'
import { SECTIONS } from './sections.ts'
import { iso } from './format.ts'
import { toJson } from '../../core/json.ts'

/** The status as JSON; all sections if none is given. */
export const statusDocument = ({ view, verdict, sections, source }: Page) => ({
  verdict: {
    word: verdict.word,
    sentence: verdict.sentence,
    findings: verdict.findings.map(findingOf),
  },
  at: iso(view.at),
  from: view.snapshot.origin,
  configFile: source?.path ?? null,
  sections: Object.fromEntries(
    (sections.length === 0 ? SECTIONS : sections).map((section) => [
      section.name.replace('{prefix}', view.prefix),
      sectionOf(section, view),
    ]),
  ),
  collectors: Object.fromEntries(
    view.snapshot.collectors.map(({ name, enabled, up, lastSuccessAt, error }) => [
      name,
      {
        enabled,
        up,
        lastSuccessAt: iso(lastSuccessAt),
        error: error?.message ?? null,
      },
    ]),
  ),
})

const findingOf = ({ name, severity, says, evidence, advice }: Finding) => ({
  name,
  severity,
  says,
  evidence,
  advice,
})

const sectionOf = (section: Section, view: View) => ({
  ...nest(section.groups.flatMap(({ facts }) => facts(view))),
  unknownBecause: reasonsOf(section, view),
})

interface Branch {
  [name: string]: unknown
}

/** Builds an object from values with paths. */
const nest = (facts: readonly Fact[]): Branch =>
  facts.reduce<Branch>((root, { path, value }) => withValue(root, path, toJson(value)), {})

const withValue = (branch: unknown, [head = '', ...rest]: readonly string[], value: unknown): Branch => {
  const before: Branch = isBranch(branch) ? branch : {}
  return { ...before, [head]: rest.length === 0 ? value : withValue(before[head], rest, value) }
}

const isBranch = (value: unknown): value is Branch =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Escapes control characters, and everything other than ASCII unless the terminal shows it. */
export const renderJson = (document: unknown, how: { indent?: number; isUnicode: boolean }): string =>
  JSON.stringify(document, undefined, how.indent).replaceAll(
    how.isUnicode ? /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g : /[^\n -~]/g,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
