import { type DataFrame, type DisplayProcessor, dateTimeFormat, formattedValueToString } from '@grafana/data'
import { measureText, useTheme2 } from '@grafana/ui'
import { TIME_ZONE } from './fields.ts'
import { type Timeline } from './scene.ts'

interface Props {
  readonly panel: Timeline
  readonly frames: DataFrame[]
  readonly width: number
  readonly height: number
}

const FONT = 12
const AXIS = 20
const LEGEND = 22
const MOST_NAME = 180

/**
 * A stand-in: Grafana's own drawing of states is part of its application and of no package. Values, words and colours
 * come from Grafana's display of the field.
 */
export const States = ({ panel, frames, width, height }: Props) => {
  const theme = useTheme2()
  const { from, to } = window.scene.span
  const names = frames.map(({ name = '' }) => name)
  const widest = Math.max(...names.map((name) => measureText(name, FONT).width))
  const left = Math.min(MOST_NAME, widest) + 12
  const legend = panel.options.legend.showLegend ? LEGEND : 0
  const lane = (height - AXIS - legend) / Math.max(1, frames.length)
  const bar = lane * panel.options.rowHeight
  const place = (at: number): number =>
    left + ((Math.max(from, Math.min(to, at)) - from) / (to - from)) * (width - left - 8)
  const stretches = frames.map(stretchesOf)
  const shown = new Map(stretches.flat().map(({ text, color }) => [text, color]))
  return (
    <>
      <svg width={width} height={height - legend} fontSize={FONT} fill={theme.colors.text.primary}>
        {stretches.map((of, row) => (
          <g key={names[row]} transform={`translate(0 ${row * lane})`}>
            <text x={left - 8} y={lane / 2 + 4} textAnchor="end">
              {names[row]}
            </text>
            {of.map((one) => (
              <Stretch key={one.from} {...one} {...{ bar, lane, place }} />
            ))}
          </g>
        ))}
        {hours(from, to).map((at) => (
          <text key={at} x={place(at)} y={height - legend - 6} textAnchor="middle" fill={theme.colors.text.secondary}>
            {dateTimeFormat(at, { format: 'HH:mm', timeZone: TIME_ZONE })}
          </text>
        ))}
      </svg>
      <div style={{ display: legend === 0 ? 'none' : 'flex', gap: 16, fontSize: FONT, lineHeight: `${LEGEND}px` }}>
        {[...shown].map(([text, color]) => (
          <span key={text}>
            <i
              style={{
                display: 'inline-block',
                width: 14,
                height: 4,
                background: color,
                margin: 3,
              }}
            />
            {text}
          </span>
        ))}
      </div>
    </>
  )
}

interface Stretched {
  readonly from: number
  readonly to: number
  readonly text: string
  readonly color: string
}

const Stretch = ({
  from,
  to,
  text,
  color,
  bar,
  lane,
  place,
}: Stretched & { bar: number; lane: number; place: (at: number) => number }) => {
  const theme = useTheme2()
  const width = Math.max(1, place(to) - place(from))
  return (
    <>
      <rect x={place(from)} y={(lane - bar) / 2} width={width} height={bar} fill={color} />
      {measureText(text, FONT).width + 10 < width && bar >= FONT && (
        <text x={place(from) + 6} y={lane / 2 + 4} fill={theme.colors.getContrastText(color)}>
          {text}
        </text>
      )}
    </>
  )
}

/** What follows one another and is the same is one; where no point is, there is none. */
const stretchesOf = ({ fields: [time, value] }: DataFrame): readonly Stretched[] => {
  if (!time || !value?.display) return []
  const step = time.config.interval ?? 0
  const found: Stretched[] = []
  time.values.forEach((at: number, index) => {
    const { text, color } = wordOf(value.values[index], value.display)
    const last = found.at(-1)
    if (last && last.text === text && at - last.to <= step / 2) {
      found[found.length - 1] = { ...last, to: at + step }
    } else found.push({ from: at, to: at + step, text, color })
  })
  return found
}

const wordOf = (value: unknown, display: DisplayProcessor = () => ({ text: '', numeric: 0 })) => {
  const shown = display(value)
  return { text: formattedValueToString(shown), color: shown.color ?? 'gray' }
}

const HOUR = 3_600_000

const hours = (from: number, to: number): readonly number[] => {
  const step = to - from > 12 * HOUR ? 4 * HOUR : HOUR
  const first = Math.ceil(from / step) * step
  return Array.from({ length: Math.floor((to - first) / step) + 1 }, (_, index) => first + index * step)
}
