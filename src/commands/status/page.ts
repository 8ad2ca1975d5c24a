import { describeSource } from '../../config/render.ts'
import type { Config } from '../../config/schema.ts'
import type { ConfigSource } from '../../config/source.ts'
import { count, duration, hostAndPort } from '../../core/format.ts'
import { isObject, toJson } from '../../core/json.ts'
import { weightOf } from '../../health/finding.ts'
import { type Fact, fact, iso, oneLine } from '../../health/sections/fact.ts'
import { reasonsOf, type Section, sourceOf, type View } from '../../health/sections/section.ts'
import { ARGUMENTS, overviewRows, SECTIONS } from '../../health/sections/sections.ts'
import { diagnosisDocument, headLines } from '../../terminal/diagnosis.ts'
import type { Style } from '../../terminal/style.ts'
import type { ServiceArguments } from '../shared/unit-arguments.ts'

export interface Page {
  readonly view: View
  readonly listen: Config['listen']
  /** The configuration file of the command. */
  readonly source: ConfigSource | null
  /** The requested sections; empty for the overview. */
  readonly sections: readonly Section[]
}

/** The lines of the page. */
export const renderPage = (page: Page, style: Style): readonly string[] => [
  ...headLines(page.view.diagnosis, style),
  ...style.paragraph('quiet', oneLine(originOf(page))),
  ...style.paragraph('quiet', oneLine(`Configuration: ${describeSource(page.source)}`)),
  ...(page.sections.length === 0
    ? renderOverview(page, style)
    : page.sections.flatMap((section) => ['', ...renderSection(section, page.view, style)])),
]

/** The source of the data, and the age of its newest and oldest reading. */
const originOf = ({ view, listen }: Pick<Page, 'view' | 'listen'>): string => {
  const address = hostAndPort(listen)
  const { snapshot, at } = view
  if (snapshot.origin === 'node') {
    return `Read from the node: no agent answers at ${address}`
  }
  const times = snapshot.collectors.flatMap(({ enabled, lastSuccessAt, hasReading }) =>
    enabled && lastSuccessAt !== null && hasReading ? [lastSuccessAt] : [],
  )
  if (times.length === 0) return `From the agent at ${address}, which has no readings yet`
  const [newest, oldest] = [duration(at - Math.max(...times)), duration(at - Math.min(...times))]
  const age = newest === oldest ? newest : `${newest} to ${oldest}`
  return `From the agent at ${address}, ${age} old`
}

/** The number of further findings that are printed. */
const MAX_FINDINGS = 2

const MORE = 'More: chain-agent status SECTION, or all.'

const renderOverview = ({ view }: Page, style: Style): readonly string[] => {
  const { word, sentence, causes } = view.diagnosis
  const others = causes
    .filter((finding) => weightOf(finding) !== 'info' && !sentence.includes(finding.summary))
    .map(({ summary }) => summary)
  const more = others.length - MAX_FINDINGS
  const also = [...others.slice(0, MAX_FINDINGS), ...(more > 0 ? [`${more} more`] : [])]
  return [
    ...(also.length === 0 ? [] : style.paragraph('notice', oneLine(`Also: ${also.join('; ')}.`))),
    '',
    ...style.pairs(overviewRows(view).map(({ label, text, tone }) => [label, text, tone])),
    '',
    ...style.paragraph('quiet', `${word === 'OK' ? '' : 'What to do: chain-agent check. '}${MORE}`),
  ]
}

const renderSection = (section: Section, view: View, style: Style): readonly string[] => {
  const title = section.name.replace('{prefix}', view.prefix)
  const groups = section.groups.map((group) => ({ group, facts: group.facts(view) }))
  // One column width for the section.
  const widest = Math.max(0, ...groups.flatMap(({ facts }) => facts.map(({ label }) => label.length)))
  return [
    style.paint('strong', title),
    ...groups
      .filter(({ facts }) => facts.length > 0)
      .flatMap(({ group, facts }) => [
        ...style.paragraph('quiet', oneLine(sourceOf(group, view)), '  '),
        ...style.pairs(facts.map(({ label, text, tone }) => [oneLine(label).padEnd(widest), oneLine(text), tone])),
      ]),
    ...reasonsOf(section, view).flatMap((reason) => style.paragraph('unknown', oneLine(reason), '  ')),
  ]
}

/** The status as JSON; all sections if none is given. */
export const statusDocument = ({ view, sections, source }: Page) => ({
  verdict: { word: view.diagnosis.word, sentence: view.diagnosis.sentence, findings: view.diagnosis.causes },
  recovery: diagnosisDocument(view.diagnosis).recovery,
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
      { enabled, up, lastSuccessAt: iso(lastSuccessAt), error: error?.message ?? null },
    ]),
  ),
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
  const before = isObject(branch) ? branch : {}
  return { ...before, [head]: rest.length === 0 ? value : withValue(before[head], rest, value) }
}

/** What the units of the three services start. It is read from the host, not from the agent. */
export const argumentsSection = (services: readonly ServiceArguments[]): Section => ({
  name: ARGUMENTS,
  groups: services.map((one) => ({
    collector: null,
    source: `the unit files of ${one.unit}`,
    facts: () => factsOf(one),
  })),
})

const factsOf = (one: ServiceArguments): readonly Fact[] => {
  const { service, files, command, problem, differences, changed, isOutdated } = one
  const why = { unknownReason: problem ?? undefined }
  return [
    fact([service, 'program'], command?.program, why),
    ...(command?.arguments ?? []).map(({ name, value }) =>
      fact(
        [service, 'arguments', name],
        { value },
        { label: name.startsWith('(') ? name : `--${name}`, text: () => value ?? 'yes' },
      ),
    ),
    fact([service, 'files'], files, { text: (paths) => paths.join(', ') }),
    fact([service, 'differences'], differences, {
      label: 'changes to the package',
      text: (all) => all.map(({ name, change }) => `${name} ${change}`).join(', ') || 'none',
      tone: (all) => (all.length > 0 ? 'notice' : undefined),
      unknownReason: problem ?? 'no unit file of a package',
    }),
    fact([service, 'changedSinceStart'], changed, {
      label: 'changed since its start',
      text: (paths) => (paths.length === 0 ? 'no' : `${count(paths.length, 'file')}: ${paths.join(', ')}`),
      tone: (paths) => (paths.length > 0 ? 'notice' : undefined),
      unknownReason: 'the service does not run, or the time of its start is not known',
    }),
    fact([service, 'needsReload'], isOutdated, {
      label: 'systemd must reload',
      tone: (is) => (is ? 'notice' : undefined),
    }),
  ]
}
