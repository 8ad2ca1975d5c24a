import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { RUNBOOKS } from '../../alerts/files.ts'
import { type Finding, finding } from '../findings.ts'
import type { Dashboard } from '../model.ts'

const RUNBOOK_PAGES = 'https://chain-agent.example/runbooks/'

/** The parts of a dashboard that links refer to. */
export const landmarkSchema = z.object({
  uid: z.string(),
  tags: z.array(z.string()),
  templating: z.object({ list: z.array(z.object({ name: z.string() })) }),
  panels: z.array(z.looseObject({ id: z.number(), panels: z.array(z.object({ id: z.number() })).optional() })),
})
type Landmark = z.output<typeof landmarkSchema>

/** Links must refer to existing dashboards and runbooks. */
export const lintLinks = (name: string, dashboard: Dashboard, all: readonly Landmark[]): readonly Finding[] => [
  ...dashboard.links
    .filter(
      ({ type, tags = [] }) =>
        type === 'dashboards' && !all.some((other) => tags.every((tag) => other.tags.includes(tag))),
    )
    .map(({ title }) => finding('link', name, `link "${title}" finds no dashboard by its tags`)),
  ...dashboard.panels
    .flatMap((panel) => (panel.type === 'row' ? [panel, ...panel.panels] : [panel]))
    .flatMap((panel) => urlsIn(panel).map((url) => ({ where: `${name}, panel "${panel.title ?? ''}"`, url })))
    .concat(urlsIn(dashboard.links).map((url) => ({ where: name, url })))
    .flatMap(({ where, url }) =>
      [faultOf(url, all)].flatMap((what) => (what === null ? [] : [finding('link', where, `link ${url} ${what}`)])),
    ),
]

/** URLs of links and in Markdown; for a row without those of its panels. */
const urlsIn = (value: unknown, key = ''): readonly string[] => {
  if (typeof value === 'string') {
    if (key === 'url') return value === '' ? [] : [value]
    if (key !== 'description' && key !== 'content') return []
    return [...value.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, url]) => (url === undefined ? [] : [url]))
  }
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([inner, part]) =>
    inner === 'panels' ? [] : urlsIn(part, Array.isArray(value) ? key : inner),
  )
}

/** A link that depends on the clicked row: the page is in the data. Every alert has one. */
const OF_THE_ROW = /^\$\{__(?:value\.(?:raw|text)|data\.fields\.alertname)\}$/

const faultOf = (url: string, all: readonly Landmark[]): string | null => {
  if (url.startsWith(RUNBOOK_PAGES)) {
    const [page = ''] = url.slice(RUNBOOK_PAGES.length).split(/[#?]/)
    // The runbook of the alert in the clicked cell; the tests of the rules check that each exists.
    if (page === '${__value.raw}') return null
    if (OF_THE_ROW.test(page)) return null
    return existsSync(join(RUNBOOKS, `${page}.md`)) ? null : 'leads to a runbook that there is not'
  }
  const [, uid, query = ''] = /^\/d\/([\w-]+)(?:\/[\w-]*)?(?:\?(.*))?$/s.exec(url) ?? []
  if (uid === undefined) return 'leads neither to a dashboard of ours nor to a runbook'
  const target = all.find((other) => other.uid === uid)
  if (!target) return `leads to the dashboard "${uid}", which there is not`
  const names = target.templating.list.map((variable) => variable.name)
  const unknown = [...query.matchAll(/(?:^|&)var-(\w+)=/g)].find(([, variable = '']) => !names.includes(variable))
  if (unknown) return `sets the variable "${unknown[1]}", which the dashboard "${uid}" has not`
  const shown = /(?:^|&)viewPanel=(\d+)/.exec(query)?.[1]
  const ids = target.panels.flatMap(({ id, panels = [] }) => [id, ...panels.map((inner) => inner.id)])
  return shown !== undefined && !ids.includes(Number(shown))
    ? `shows the panel ${shown}, which the dashboard "${uid}" has not`
    : null
}
