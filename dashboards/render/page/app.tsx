import { type ReactNode, useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { type DataFrame, ThemeContext, createTheme } from '@grafana/data'
import { GlobalStyles, PanelChrome, PortalContainer } from '@grafana/ui'
import { dressed, transformed } from './fields.ts'
import { Bar, Figures } from './figures.tsx'
import { framesOf } from './frames.ts'
import { Lines } from './graph.tsx'
import { type Drawn, type Scene, type Visual } from './scene.ts'
import { Table } from './table.tsx'
import { States } from './timeline.tsx'

declare global {
  interface Window {
    readonly scene: Scene
    /** How many panels are drawn so far. */
    drawn: number
  }
}

/** Grafana's grid: 24 columns, lines of 30 pixels, 8 between them. */
const CELL = 30
const GAP = 8
const COLUMNS = 24
const HEADER = 48

const { scene } = window
const theme = createTheme({ colors: { mode: scene.theme } })
const column = (window.innerWidth - GAP) / COLUMNS - GAP
const length = (count: number, unit: number): number => count * unit + (count - 1) * GAP

const Content = ({ panel, frames, width, height }: ContentProps): ReactNode => {
  const known = frames.some((frame) => frame.length > 0)
  // A single figure says by itself, in its colour, that it is not known.
  if (!known && panel.type !== 'stat') return <Nothing text={panel.fieldConfig.defaults.noValue ?? 'No data'} />
  const place = { frames, width, height }
  switch (panel.type) {
    case 'stat':
      return <Figures panel={panel} {...place} />
    case 'bargauge':
      return <Bar panel={panel} {...place} />
    case 'timeseries':
      return <Lines panel={panel} {...place} />
    case 'state-timeline':
      return <States panel={panel} {...place} />
    case 'table':
      return <Table panel={panel} {...place} />
  }
}

interface ContentProps {
  readonly panel: Visual
  readonly frames: DataFrame[]
  readonly width: number
  readonly height: number
}

const Nothing = ({ text }: { readonly text: string }) => (
  <div style={{ height: '100%', display: 'grid', placeItems: 'center', opacity: 0.7 }}>{text}</div>
)

const Framed = ({ panel, width, height }: Omit<ContentProps, 'frames'>) => {
  const [frames, setFrames] = useState<DataFrame[]>()
  useEffect(() => {
    void transformed(panel, framesOf(panel)).then((made) => setFrames(dressed(panel, made, theme)))
  }, [panel])
  useEffect(() => {
    if (frames) window.drawn += 1
  }, [frames])
  return (
    <PanelChrome
      title={panel.title}
      description={panel.description}
      width={width}
      height={height}
      padding={panel.type === 'table' ? 'none' : 'md'}
    >
      {(innerWidth, innerHeight) =>
        frames && <Content panel={panel} frames={frames} width={innerWidth} height={innerHeight} />
      }
    </PanelChrome>
  )
}

const Placed = ({ panel }: { readonly panel: Drawn }) => {
  const { x, y, w, h } = panel.gridPos
  const width = length(w, column)
  const height = length(h, CELL)
  const left = GAP + x * (column + GAP)
  const top = HEADER + y * (CELL + GAP)
  return (
    <div style={{ position: 'absolute', left, top, width, height }}>
      {panel.type === 'row' ? (
        <div style={{ fontSize: 18, fontWeight: 500, lineHeight: `${CELL}px` }}>⌄ {panel.title}</div>
      ) : (
        <Framed panel={panel} width={width} height={height} />
      )}
    </div>
  )
}

const Header = () => (
  <div style={{ display: 'flex', gap: 24, padding: '10px 8px', alignItems: 'baseline' }}>
    <span style={{ fontSize: 18, fontWeight: 500 }}>{scene.title}</span>
    {scene.chosen.map(({ label, text }) => (
      <span key={label}>
        <span style={{ color: theme.colors.text.secondary }}>{label}</span> {text}
      </span>
    ))}
    {[...new Map(scene.marks.map(({ name, color }) => [name, color]))].map(([name, color]) => (
      <span key={name}>
        <span style={{ color, fontWeight: 700 }}>┊</span> {name}
      </span>
    ))}
  </div>
)

const bottom = Math.max(...scene.panels.map(({ gridPos: { y, h } }) => y + h))
Object.assign(document.body.style, {
  margin: 0,
  background: theme.colors.background.canvas,
  height: `${HEADER + bottom * (CELL + GAP)}px`,
})
window.drawn = 0
const root = document.getElementById('root')
if (!root) throw new Error('a page without a root')
createRoot(root).render(
  <ThemeContext.Provider value={theme}>
    <GlobalStyles />
    <Header />
    {scene.panels.map((panel) => (
      <Placed key={panel.id} panel={panel} />
    ))}
    <PortalContainer />
  </ThemeContext.Provider>,
)
