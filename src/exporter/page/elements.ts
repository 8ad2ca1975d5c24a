import { figure, utc } from '../../core/format.ts'
import type { Tone } from '../../domain/health.ts'
import type { OverviewResponse } from '../../parsers/agent-api.ts'
import { html, type Html } from './html.ts'

export const SIGNS: Readonly<Record<Tone, string>> = {
  good: '✓',
  notice: '!',
  bad: '✗',
  unknown: '?',
  quiet: '·',
  strong: '•',
}
/** The meaning of a sign, for screen readers. */
const WORDS: Partial<Record<Tone, string>> = { notice: 'attention: ', bad: 'problem: ' }

type Toned<Shown> = Omit<Shown, 'tone'> & { readonly tone: Tone | null | undefined }

export const sign = (tone: Tone | null | undefined): Html | null =>
  tone === 'notice' || tone === 'bad'
    ? html`<span class="sign" aria-hidden="true">${SIGNS[tone]} </span><span class="hidden">${WORDS[tone]}</span>`
    : null

export const timeText = (at: number): string => utc(at).replace('T', ' ').replace('Z', ' UTC')

/** The state in one sentence. */
export const renderHeadline = (tone: Tone, word: string, sentence: string): Html =>
  html`<div role="status">
    <h1 class="state ${tone}">
      <span class="word"><span aria-hidden="true">${SIGNS[tone]}</span> ${word}:</span>
      <span id="sentence">${sentence}</span>
    </h1>
  </div>`

export const time = (at: number): Html => html`<time datetime="${new Date(at).toISOString()}">${timeText(at)}</time>`

export type KeyFigure = OverviewResponse['figures'][number]

/** A number that is shown large. */
export const renderFigure = ({
  label,
  value,
  unknownBecause,
  limit,
  tone,
  history,
}: Toned<Omit<KeyFigure, 'name'>>): Html =>
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

const rounded = (value: number): string => figure(Number(value.toPrecision(4)))

type SectionFact = OverviewResponse['sections'][number]['groups'][number]['facts'][number]

export const renderFact = ({ label, text, tone }: Toned<Omit<SectionFact, 'value'>>): Html =>
  html`<div>
    <dt>${label}</dt>
    <dd class="${tone}">${sign(tone)}${text}</dd>
  </div> `

/** The path of the runbook of an alert, at the section of its row: of `ChainDiskFull.filling`. */
export const runbookPath = (address: string): string => `/runbooks/${address.replace('.', '#')}`
