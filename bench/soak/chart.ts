/** x and y. */
export type Point = readonly [number, number]

const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [860, 150, 70, 26, 50]

/** Lines over time, one panel below the other, as SVG; `shaded` is the range of an outage. */
export const chart = (
  series: Readonly<Record<string, readonly Point[]>>,
  shaded: readonly [number, number],
): string => {
  const all = Object.values(series).flat()
  const last = Math.max(...all.map(([x]) => x))
  const x = (value: number): number => LEFT + (value / last) * WIDTH
  const panels = Object.entries(series).map(([name, points], index) => {
    const top = TOP + index * (HEIGHT + GAP)
    const most = Math.max(...points.map(([, value]) => value)) * 1.1
    const y = (value: number): number => top + HEIGHT - (value / most) * HEIGHT
    const line = points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(' ')
    const ticks = [0, 0.5, 1].map(
      (share) =>
        `<text x="${LEFT - 8}" y="${y(most * share) + 4}" text-anchor="end">${Math.round(most * share)}</text>`,
    )
    return [
      `<rect x="${x(shaded[0])}" y="${top}" width="${x(shaded[1]) - x(shaded[0])}" height="${HEIGHT}" fill="#f5d5d0"/>`,
      `<rect x="${LEFT}" y="${top}" width="${WIDTH}" height="${HEIGHT}" fill="none" stroke="#999"/>`,
      `<text x="${LEFT}" y="${top - 8}">${name}</text>`,
      ...ticks,
      `<polyline points="${line}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>`,
    ].join('\n')
  })
  const bottom = TOP + panels.length * (HEIGHT + GAP) - GAP + 18
  const minutes = Array.from({ length: Math.floor(last / 5) + 1 }, (_, index) => index * 5)
  const axis = minutes.map((minute) => `<text x="${x(minute)}" y="${bottom}" text-anchor="middle">${minute} min</text>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 20}" height="${bottom + 10}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="#fff"/>
${panels.join('\n')}
${axis.join('\n')}
</svg>
`
}
