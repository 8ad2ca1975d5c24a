import type { OverviewResponse } from '../../parsers/agent-api.ts'
import type { Event } from '../../domain/event.ts'
import { capital, count, shortDuration } from '../../core/format.ts'
import { SEVERITY_TONES, STATUS_TONES } from '../../domain/health.ts'
import { weightOf } from '../../health/finding.ts'
import { renderFact, renderFigure, renderHeadline, sign, SIGNS, time } from './elements.ts'
import { html, type Html } from './html.ts'
import type { Overview } from './overview.ts'
import { renderRounds } from './rounds.ts'

/** The parts of the status page by the id of their element, by which the script of the page updates them. */
export const renderParts = (overview: Overview): ReadonlyMap<string, Html> => {
  const { document, rounds, events, at } = overview
  const { findings, roundsUnknownBecause, figures, sections } = document
  const parts = new Map([
    ['state', renderState(overview)],
    ['findings', renderFindings(findings)],
  ])
  if (rounds !== null) parts.set('rounds', renderRounds({ rounds, roundsUnknownBecause, at }))
  if (figures.length > 0)
    parts.set(
      'figures',
      html`<h2>Key figures</h2>
        ${list('figures', figures.map(renderFigure))}`,
    )
  const addSections = (isAgent: boolean): void => {
    for (const section of sections)
      if ((section.name === AGENT) === isAgent) parts.set(`section-${section.name}`, renderSection(section))
  }
  addSections(false)
  parts.set(
    'events-latest',
    html`<h2>Events</h2>
      <p><a href="/events">All stored events</a>, with the first reading of each subject</p>
      ${renderEvents(events)}`,
  )
  addSections(true)
  return parts
}

/** A list with a class; nothing without items. */
const list = (name: string, items: readonly Html[]): Html | null =>
  items.length === 0
    ? null
    : html`<ul class="${name}">
        ${items}
      </ul>`

/** The collectors of the agent, after everything about the node. */
const AGENT = 'agent'

const renderState = ({ at, since, document }: Overview): Html => {
  const { hostName, verdict, recovery, incident } = document
  const { word, sentence } = verdict
  return html`${hostName === null ? null : html`<p class="node">${hostName}</p>`}
    ${renderHeadline(STATUS_TONES[word], word, sentence)} ${recovery.path === 'none' ? null : renderRecovery(recovery)}
    <p>${word} since ${time(since)}${at - since < 1000 ? null : `, for ${shortDuration(at - since)}`}.</p>
    ${incident === null ? null : html`<p>Evidence: ${withCommands(`\`chain-agent incident ${incident}\``)}</p>`}`
}

const renderRecovery = ({ summary, left }: OverviewResponse['recovery']): Html =>
  html`<p class="recovery">
    Recovery: ${summary}.${left === null ? null : html` <strong>${left}.</strong>`} The steps:
    ${withCommands('`chain-agent recover`')}
  </p>`

type Finding = OverviewResponse['findings'][number]

const renderFindings = (findings: readonly Finding[]): Html =>
  html`<h2>Findings</h2>
    ${findings.length === 0 ? html`<p>None: no rule has a finding.</p>` : findings.map(renderFinding)}`

const renderFinding = (finding: Finding): Html => {
  const { name, summary, timing, evidence, advice, consequences, runbook } = finding
  const severity = weightOf(finding)
  return html`<article class="finding ${SEVERITY_TONES[severity]}">
    <h3>
      <span class="severity"><span aria-hidden="true">${SIGNS[SEVERITY_TONES[severity]]}</span> ${severity}:</span>
      ${summary}
    </h3>
    ${timing === null ? null : html`<p class="timing">${timing}</p>`}
    ${list(
      'evidence',
      evidence.map((fact) => html`<li>${fact}</li>`),
    )}
    ${
      advice.length === 0
        ? null
        : html`<p>What to do:</p>
            <ol class="advice">
              ${advice.map((step) => html`<li>${withCommands(step)}</li>`)}
            </ol>`
    }
    ${consequences.length === 0 ? null : html`<p>What follows from it:</p>`}
    ${list(
      'consequences',
      consequences.map((one) => html`<li>${one.severity}: ${one.summary}</li>`),
    )}
    ${runbook === null ? null : html`<p><a href="${runbook}">Runbook ${name}</a></p>`}
  </article>`
}

/** Text between backticks is a command, with a button that copies it after the punctuation that follows. */
const withCommands = (step: string): readonly Html[] =>
  [...step.matchAll(/([^`]*)(?:`([^`]*)`([.,;:)]*))?/g)].map(([, text, command, punctuation]) =>
    command === undefined
      ? html`${text}`
      : html`${text}<code>${command}</code>${punctuation}<button
            type="button"
            class="copy"
            aria-label="Copy the command ${command}"
          >
            Copy
          </button>`,
  )

const renderSection = (section: OverviewResponse['sections'][number]): Html => {
  const { name, summary, tone, groups, unknownBecause } = section
  const number = groups.reduce((sum, { facts }) => sum + facts.length, 0)
  const text = tone === 'unknown' ? (summary ?? 'unknown') : summary
  const title = TITLES[name] ?? capital(name)
  return html`<h2>${title}</h2>
    ${text === null ? null : html`<p class="summary ${tone}">${sign(tone)}${text}</p>`}
    ${list(
      'reasons',
      unknownBecause.map((why) => html`<li>Unknown: ${why}</li>`),
    )}
    ${
      number === 0
        ? null
        : html`<details>
            <summary>${count(number, 'value')}<span class="hidden"> of ${title}</span></summary>
            ${groups.map(
              ({ source, readAt, facts }) =>
                html`<p class="source">
                    From ${source}${readAt === null ? null : html`, read ${time(Date.parse(readAt))}`}
                  </p>
                  <dl>${facts.map(renderFact)}</dl>`,
            )}
          </details>`
    }`
}

/** Of sections whose name is not their title. */
const TITLES: Readonly<Record<string, string>> = {
  rpc: 'RPC',
  staking: 'Staking and epoch',
  chain: 'Chain and references',
  versions: 'Versions and forks',
  restart: 'Planned restart',
  header: 'Node',
  config: 'Configuration of the node',
  watched: 'Watched node',
  alerts: 'Alerts of the agent',
  agent: 'Collectors of the agent',
}

/** State changes, newest first. */
export const renderEvents = (events: readonly Event[]): Html =>
  list('events', events.map(renderEvent)) ?? html`<p>None.</p>`

const renderEvent = ({ at, collector, subject, from, to, severity }: Event): Html =>
  html`<li class="${SEVERITY_TONES[severity]}">
    ${time(at)}
    <span class="severity"><span aria-hidden="true">${SIGNS[SEVERITY_TONES[severity]]}</span> ${severity}</span>
    <b>${subject ?? collector}</b> ${from === null ? null : `${from} → `}${to}
  </li> `
