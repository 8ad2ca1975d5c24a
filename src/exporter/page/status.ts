import type { Event } from '../../domain/event.ts'
import { count, shortDuration } from '../../core/format.ts'
import { SEVERITY_TONES, STATUS_TONES } from '../../domain/health.ts'
import { type HealthFinding, weightOf } from '../../health/finding.ts'
import type { RecoveryAdvice } from '../../health/recovery.ts'
import { renderFact, renderFigure, renderHeadline, runbookPath, sign, SIGNS, time } from './elements.ts'
import { html, type Html } from './html.ts'
import type { Overview } from './overview.ts'
import { renderRounds } from './rounds.ts'

/** The parts of the status page by the id of their element: each is sent again when it changes. */
export const renderParts = (overview: Overview): ReadonlyMap<string, Html> => {
  const { diagnosis, rounds, figures, sections, events } = overview
  const parts = new Map([
    ['state', renderState(overview)],
    ['findings', renderFindings(diagnosis.causes)],
  ])
  if (rounds !== null) parts.set('rounds', renderRounds({ ...overview, rounds }))
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

/** All parts as they are in the document. */
export const renderMain = (parts: ReadonlyMap<string, Html>): Html =>
  html`${[...parts].map(([id, part]) => html`<section id="${id}">${part}</section> `)}`

const renderState = ({ diagnosis: { word, sentence, since, recovery, incident }, at, hostName }: Overview): Html =>
  html`${hostName === null ? null : html`<p class="node">${hostName}</p>`}
    ${renderHeadline(STATUS_TONES[word], word, sentence)} ${recovery.path === 'none' ? null : renderRecovery(recovery)}
    <p>${word} since ${time(since)}${at - since < 1000 ? null : `, for ${shortDuration(at - since)}`}.</p>
    ${incident === null ? null : html`<p>Evidence: ${withCommands(`\`chain-agent incident ${incident}\``)}</p>`}`

const renderRecovery = ({ summary, left }: RecoveryAdvice): Html =>
  html`<p class="recovery">
    Recovery: ${summary}.${left === null ? null : html` <strong>${left}.</strong>`} The steps:
    ${withCommands('`chain-agent recover`')}
  </p>`

const renderFindings = (findings: readonly HealthFinding[]): Html =>
  html`<h2>Findings</h2>
    ${findings.length === 0 ? html`<p>None: no rule has a finding.</p>` : findings.map(renderFinding)}`

const renderFinding = (finding: HealthFinding): Html => {
  const { name, summary, timing, evidence, advice, consequences } = finding
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
    ${name.startsWith('Chain') ? html`<p><a href="${runbookPath(name)}">Runbook ${name}</a></p>` : null}
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

const renderSection = ({ name, summary, groups, unknownBecause }: Overview['sections'][number]): Html => {
  const number = groups.reduce((sum, { facts }) => sum + facts.length, 0)
  const text = summary.tone === 'unknown' ? (summary.text ?? 'unknown') : summary.text
  return html`<h2>${TITLES[name] ?? name}</h2>
    ${text === null ? null : html`<p class="summary ${summary.tone}">${sign(summary.tone)}${text}</p>`}
    ${list(
      'reasons',
      unknownBecause.map((why) => html`<li>Unknown: ${why}</li>`),
    )}
    ${
      number === 0
        ? null
        : html`<details>
            <summary>${count(number, 'value')}<span class="hidden"> of ${TITLES[name] ?? name}</span></summary>
            ${groups.map(
              ({ source, readAt, facts }) =>
                html`<p class="source">From ${source}${readAt === null ? null : html`, read ${time(readAt)}`}</p>
                  <dl>${facts.map(renderFact)}</dl>`,
            )}
          </details>`
    }`
}

const TITLES: Readonly<Record<string, string>> = {
  services: 'Services',
  consensus: 'Consensus',
  statesync: 'Statesync',
  peers: 'Peers',
  rpc: 'RPC',
  execution: 'Execution',
  storage: 'Storage',
  staking: 'Staking and epoch',
  duties: 'Duties',
  host: 'Host',
  keys: 'Keys',
  chain: 'Chain and references',
  versions: 'Versions and forks',
  maintenance: 'Maintenance',
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
