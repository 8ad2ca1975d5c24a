interface Placed {
  readonly type: string
  readonly gridPos: {
    readonly x: number
    readonly y: number
    readonly w: number
    readonly h: number
  }
}

/** In lines of Grafana's grid: a picture that is longer cannot be read on a page. */
const LONGEST = 110

/** A window of 1600×900, without the line with the title. */
const SCREEN = 22

/** Cuts a long dashboard before rows, into parts that begin at the top. */
export const cut = <P extends Placed>(panels: readonly P[]): readonly (readonly P[])[] => {
  const parts: P[][] = []
  let top = 0
  for (const row of rowsOf(panels)) {
    const end = Math.max(...row.map(({ gridPos: { y, h } }) => y + h))
    const last = parts.at(-1)
    if (last && end - top <= LONGEST) {
      last.push(...row)
      continue
    }
    top = Math.min(...row.map(({ gridPos: { y } }) => y))
    parts.push([...row])
  }
  return parts.map(atTop)
}

const atTop = <P extends Placed>(part: readonly P[]): P[] => {
  const begin = Math.min(...part.map(({ gridPos: { y } }) => y))
  return part.map((panel) => ({ ...panel, gridPos: { ...panel.gridPos, y: panel.gridPos.y - begin } }))
}

/** What is seen before anybody scrolls. */
export const beginning = <P extends Placed>(panels: readonly P[]): readonly P[] =>
  panels.filter(({ gridPos: { y, h } }) => y + h <= SCREEN)

const rowsOf = <P extends Placed>(panels: readonly P[]): readonly (readonly P[])[] => {
  const rows: P[][] = []
  for (const panel of panels) {
    const last = rows.at(-1)
    if (last && panel.type !== 'row') last.push(panel)
    else rows.push([panel])
  }
  return rows
}
