/** Of the process and of real time, not of the simulated node. */
const NOT_SIMULATED = /^(?:process|nodejs)_|_duration_seconds|_event_loop_delay_/
/** Of the machine that runs the tests, or of the moment at which the collector read the files of the simulated host. */
const OF_THE_MACHINE =
  /^chain_host_(?:cpu_|drive_|file_modified|filesystem_|nvme_temperature_|directory_|pressure_|udp_received_)/

/**
 * A page of `/metrics` in a form that can be reviewed: a line per metric with the number of its series and the sum of
 * their values (of a histogram, all its buckets). Compared with `healthy`, another page: only the lines that differ.
 */
export const goldenMetrics = (page: string, healthy?: string): string => {
  const lines = summaryOf(page)
  const known = healthy === undefined ? [] : summaryOf(healthy)
  const present = new Set(lines.map(nameOf))
  const absent = known.map(nameOf).filter((name) => !present.has(name))
  const changed = lines.filter((line) => !known.includes(line))
  return `${[...changed, ...absent.map((name) => `${name} absent`)].toSorted().join('\n')}\n`
}

const nameOf = (line: string): string => line.split(' ')[0] ?? ''

const summaryOf = (metrics: string): readonly string[] => {
  const families = new Map<string, { series: number; sum: number }>()
  for (const line of metrics.split('\n')) {
    const [, name = '', value = ''] = /^([a-z_]+?)(?:_bucket|_sum|_count)?(?:\{.*\})? (\S+)/.exec(line) ?? []
    if (name === '' || NOT_SIMULATED.test(line)) continue
    const { series, sum } = families.get(name) ?? { series: 0, sum: 0 }
    families.set(name, { series: series + 1, sum: sum + Number(value) })
  }
  return [...families]
    .map(([name, { series, sum }]) =>
      OF_THE_MACHINE.test(name)
        ? `${name} ${series} ${sum > 0 ? 'above 0' : '0'}`
        : `${name} ${series} ${Number(sum.toPrecision(9))}`,
    )
    .toSorted()
}
