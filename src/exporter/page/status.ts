import type { Event } from '../../domain/event.ts'
import { count, shortDuration } from '../../core/format.ts'
import type { Tone } from '../../domain/health.ts'
import { type HealthFinding, type Severity, weightOf } from '../../health/finding.ts'
import type { RecoveryAdvice } from '../../health/recovery.ts'
import type { Fact } from '../../health/sections/fact.ts'
import type { HealthStatus } from '../../health/diagnosis.ts'
import type { KeyFigure } from './figures.ts'
import { html, type Html } from './html.ts'
import { type Overview, timeText } from './overview.ts'

/** The parts of the status page by the id of their element: each is sent again when it changes. */
export const renderParts = (overview: Overview): ReadonlyMap<string, Html> => {
  const { diagnosis, figures, sections, events } = overview
  return new Map<string, Html>([
    ['state', renderState(overview)],
    ['findings', renderFindings(diagnosis.causes)],
    [
      'figures',
      html`<h2>Key figures</h2>
        <ul class="figures">
          ${figures.map(renderFigure)}
        </ul>`,
    ],
    ...sections
      .filter(({ name }) => name !== AGENT)
      .map((section): [string, Html] => [`section-${section.name}`, renderSection(section)]),
    [
      'events-latest',
      html`<h2>Events</h2>
        <p><a href="/events">All stored events</a></p>
        ${renderEvents(events)}`,
    ],
    ...sections
      .filter(({ name }) => name === AGENT)
      .map((section): [string, Html] => [`section-${section.name}`, renderSection(section)]),
  ])
}

/** The collectors of the agent, after everything about the node. */
const AGENT = 'agent'

/** All parts as they are in the document. */
export const renderMain = (parts: ReadonlyMap<string, Html>): Html =>
  html`${[...parts].map(([id, part]) => html`<section id="${id}">${part}</section> `)}`

const STATE_TONES: Readonly<Record<HealthStatus, Tone>> = {
  OK: 'good',
  MAINTENANCE: 'notice',
  WARNING: 'notice',
  CRITICAL: 'bad',
  UNKNOWN: 'unknown',
}
const SEVERITY_TONES: Readonly<Record<Severity, Tone>> = {
  critical: 'bad',
  unknown: 'unknown',
  warning: 'notice',
  info: 'quiet',
}
const SIGNS: Readonly<Record<Tone, string>> = {
  good: '✓',
  notice: '!',
  bad: '✗',
  unknown: '?',
  quiet: '·',
  strong: '•',
}
/** What a sign means for those who do not see it. */
const WORDS: Partial<Record<Tone, string>> = { notice: 'attention: ', bad: 'problem: ' }

const sign = (tone: Tone | undefined): Html | null =>
  tone === 'notice' || tone === 'bad'
    ? html`<span class="sign" aria-hidden="true">${SIGNS[tone]} </span><span class="hidden">${WORDS[tone]}</span>`
    : null

const renderState = ({ diagnosis: { word, sentence, since, recovery }, at }: Overview): Html =>
  html`${renderHeadline(STATE_TONES[word], word, sentence)}
    ${recovery.path === 'none' ? null : renderRecovery(recovery)}
    <p>${word} since ${time(since)}${at - since < 1000 ? null : `, for ${shortDuration(at - since)}`}.</p>`

const renderRecovery = ({ summary, left }: RecoveryAdvice): Html =>
  html`<p class="recovery">
    Recovery: ${summary}.${left === null ? null : html` <strong>${left}.</strong>`} The steps:
    ${withCommands('`chain-agent recover`')}
  </p>`

/** The state in one sentence. */
export const renderHeadline = (tone: Tone, word: string, sentence: string): Html =>
  html`<div role="status">
    <h1 class="state ${tone}">
      <span class="word"><span aria-hidden="true">${SIGNS[tone]}</span> ${word}:</span>
      <span id="sentence">${sentence}</span>
    </h1>
  </div>`

export const time = (at: number): Html => html`<time datetime="${new Date(at).toISOString()}">${timeText(at)}</time>`

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
    ${
      evidence.length === 0
        ? null
        : html`<ul class="evidence">
            ${evidence.map((fact) => html`<li>${fact}</li>`)}
          </ul>`
    }
    ${
      advice.length === 0
        ? null
        : html`<p>What to do:</p>
            <ol class="advice">
              ${advice.map((step) => html`<li>${withCommands(step)}</li>`)}
            </ol>`
    }
    ${
      consequences.length === 0
        ? null
        : html`<p>What follows from it:</p>
            <ul class="consequences">
              ${consequences.map((one) => html`<li>${one.severity}: ${one.summary}</li>`)}
            </ul>`
    }
    ${name.startsWith('Chain') ? html`<p><a href="/runbooks/${name}">Runbook ${name}</a></p>` : null}
  </article>`
}

/** Text between backticks is a command, with a button that copies it. */
const withCommands = (step: string): readonly Html[] =>
  step
    .split('`')
    .map((part, index) =>
      index % 2 === 0
        ? html`${part}`
        : html`<code>${part}</code
            ><button type="button" class="copy" aria-label="Copy the command ${part}">Copy</button>`,
    )

export const renderFigure = ({ label, value, unknownBecause, limit, tone, history }: Omit<KeyFigure, 'name'>): Html =>
  html`<li class="figure ${tone}">
    <span class="label">${label}</span>
    <span class="value">${sign(tone)}${value ?? 'unknown'}</span>
    ${unknownBecause === null ? null : html`<span class="note">${unknownBecause}</span>`}
    ${limit === null ? null : html`<span class="note">${limit}</span>`}
    ${history === null ? null : renderSparkline(history, label)}
  </li>`

const WIDTH = 240
const HEIGHT = 32

/** The last hour as a line from the lowest to the highest value, interrupted where the value was unknown. */
const renderSparkline = (values: readonly (number | null)[], label: string): Html => {
  const known = values.filter((value) => value !== null)
  if (known.length < 2) return html`<span class="note">no history yet</span>`
  const [lowest, highest] = [Math.min(...known), Math.max(...known)]
  const range = highest - lowest || 1
  let path = ''
  let isDrawing = false
  values.forEach((value, index) => {
    if (value === null) isDrawing = false
    else {
      const x = WIDTH - values.length + index
      const y = Math.round((HEIGHT - 2) * (1 - (value - lowest) / range)) + 1
      path += `${isDrawing ? 'L' : 'M'}${x} ${y}`
      // A single known value between unknown ones is a point.
      if (!isDrawing) path += 'h1'
      isDrawing = true
    }
  })
  const title = `${label} in the last hour: ${rounded(lowest)} to ${rounded(highest)}`
  return html`<svg
    class="spark"
    viewBox="0 0 ${WIDTH} ${HEIGHT}"
    preserveAspectRatio="none"
    role="img"
    aria-label="${title}"
  >
    <path d="${path}" />
  </svg>`
}

const rounded = (value: number): string => Number(value.toPrecision(4)).toLocaleString('en-US')

const renderSection = ({ name, summary, groups, unknownBecause }: Overview['sections'][number]): Html => {
  const number = groups.reduce((sum, { facts }) => sum + facts.length, 0)
  const text = summary.tone === 'unknown' ? (summary.text ?? 'unknown') : summary.text
  return html`<h2>${TITLES[name] ?? name}</h2>
    ${text === null ? null : html`<p class="summary ${summary.tone}">${sign(summary.tone)}${text}</p>`}
    ${
      unknownBecause.length === 0
        ? null
        : html`<ul class="reasons">
            ${unknownBecause.map((why) => html`<li>Unknown: ${why}</li>`)}
          </ul>`
    }
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
  chain: 'References',
  versions: 'Versions and forks',
  maintenance: 'Maintenance',
  header: 'Node',
  config: 'Configuration of the node',
  agent: 'Collectors of the agent',
}

export const renderFact = ({ label, text, tone }: Pick<Fact, 'label' | 'text' | 'tone'>): Html =>
  html`<div>
    <dt>${label}</dt>
    <dd class="${tone}">${sign(tone)}${text}</dd>
  </div> `

/** State changes, newest first. */
export const renderEvents = (events: readonly Event[]): Html =>
  events.length === 0
    ? html`<p>None.</p>`
    : html`<ul class="events">
        ${events.map(renderEvent)}
      </ul>`

const renderEvent = ({ at, collector, subject, from, to, severity }: Event): Html =>
  html`<li class="${SEVERITY_TONES[severity]}">
    ${time(at)}
    <span class="severity"><span aria-hidden="true">${SIGNS[SEVERITY_TONES[severity]]}</span> ${severity}</span>
    <b>${subject ?? collector}</b> ${from === null ? null : `${from} → `}${to}
  </li> `
