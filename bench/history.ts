import type { ReleaseCommit } from './comparison.ts'
import type { Section } from './report.ts'

/** The CPU time and the memory that decide, each next to the peer that decides; a program is named by its beginning, without its version. */
const RATIOS: readonly { readonly of: string; readonly figure: string; readonly program: string }[] = [
  { of: 'startup: CPU, runbook ÷ node -e 0', figure: 'CPU, ms', program: 'chain-agent runbook' },
  { of: 'startup: RSS, runbook ÷ node -e 0', figure: 'peak RSS, MiB', program: 'chain-agent runbook' },
  { of: 'agent: CPU ÷ node_exporter', figure: 'CPU, % of one core', program: 'node_exporter' },
  { of: 'agent: RSS ÷ node_exporter', figure: 'RSS, MiB', program: 'node_exporter' },
  { of: 'agent: anonymous ÷ node_exporter', figure: 'anonymous, MiB', program: 'node_exporter' },
  { of: 'agent: scrape per series ÷ node_exporter', figure: 'scrape, µs per series', program: 'node_exporter' },
  { of: 'agent-logs: CPU ÷ node_exporter', figure: 'CPU, % of one core', program: 'node_exporter' },
  { of: 'agent-logs: RSS ÷ node_exporter', figure: 'RSS, MiB', program: 'node_exporter' },
  { of: 'journal: CPU ÷ JSON.parse', figure: 'CPU per 1,000 lines, ms', program: 'node' },
  { of: 'journal: CPU ÷ mtail', figure: 'CPU per 1,000 lines, ms', program: 'mtail' },
  { of: 'tokens: CPU ÷ JSON.parse', figure: 'CPU, s', program: 'fetch' },
  { of: 'tokens: CPU ÷ official client', figure: 'CPU, s', program: '@envio-dev/hypersync-client' },
  { of: 'tokens: RSS ÷ JSON.parse', figure: 'peak RSS, MiB', program: 'fetch' },
  { of: 'decoders: CPU ÷ viem', figure: 'CPU, s', program: 'viem' },
  { of: 'store: CPU of filling ÷ better-sqlite3', figure: 'fill: CPU, s', program: 'better-sqlite3' },
  {
    of: 'store: CPU of reading ÷ DuckDB',
    figure: 'read contract with many logs: CPU, ms',
    program: '@duckdb/node-api',
  },
  { of: 'pages: CPU of the service, binary ÷ JSON', figure: 'service: CPU, µs a log', program: 'chain-agent, binary' },
]

/** A ratio this much higher than the recorded one is worse: less is noise between two runs. */
const TOLERANCE = 1.15

/** The main ratios of a release, by the name of their column. */
export interface Release extends ReleaseCommit {
  readonly date: string
  /** Number and model of the CPUs, and the version of Node.js: ratios of two machines differ by half. */
  readonly machine: string
  readonly ratios: ReadonlyMap<string, number>
}

const HEADING = '## History'
const ABSENT = '–'

/** The releases in the report, the oldest first. Throws if its table cannot be read. */
export const readHistory = (report: string): readonly Release[] => {
  const lines = report.split('\n')
  const start = lines.indexOf(HEADING)
  const table = start === -1 ? [] : lines.slice(start, nextHeading(lines, start)).filter((line) => line.startsWith('|'))
  const [[, , , , ...columns] = [], , ...rows] = table.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
  return rows.map(([version = '', commit = '', date = '', machine = '', ...cells]) => ({
    version,
    commit,
    date,
    machine,
    ratios: new Map(
      columns.flatMap((column, index) => {
        const cell = cells[index] ?? ''
        if (cell === ABSENT) return []
        const ratio = Number(cell)
        if (!(ratio > 0))
          throw new Error(`History, ${version}, ${column}: "${cell}" is not a ratio; expected a number or ${ABSENT}`)
        return [[column, ratio]]
      }),
    ),
  }))
}

const nextHeading = (lines: readonly string[], start: number): number => {
  const next = lines.findIndex((line, index) => index > start && line.startsWith('## '))
  return next === -1 ? lines.length : next
}

/** The section of the report. A release has one row: that of its first complete report. */
export const renderHistory = (releases: readonly Release[]): string => {
  const columns = columnsOf(releases)
  const rows = releases.map(({ version, commit, date, machine, ratios }) => [
    version,
    commit,
    date,
    machine,
    ...columns.map((column) => (ratios.has(column) ? `${ratios.get(column)}` : ABSENT)),
  ])
  const names = ['release', 'commit', 'date', 'machine', ...columns]
  const table = [names, names.map(() => '---'), ...rows]
  return `${HEADING}

The main ratios of each release, as its first report had them. \`npm run bench:report -- --check\` builds the commit of the last row, and measures it next to this
checkout in \`agent\` and \`agent-logs\`; of the others it compares the ratios with those of the last row, which differ from machine to machine.

${table.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`
}

/** Those that are measured now, and then those that only an earlier release has. */
const columnsOf = (releases: readonly Release[]): readonly string[] => [
  ...new Set([...RATIOS.map(({ of }) => of), ...releases.flatMap(({ ratios }) => [...ratios.keys()])]),
]

/** The main ratios of finished sections. */
export const mainRatios = (sections: readonly Pick<Section, 'name' | 'ratios'>[]): Release['ratios'] =>
  new Map(
    RATIOS.flatMap(({ of, figure, program }) => {
      const section = sections.find(({ name }) => of.startsWith(`${name}: `))
      const found = section?.ratios.find((ratio) => ratio.figure === figure && ratio.program.startsWith(program))
      return found ? [[of, found.value]] : []
    }),
  )

/** What a run has next to a recorded release: a line for each ratio that is worse, and for each that only one of them has. */
export const compareRatios = (
  recorded: Release,
  measured: Release['ratios'],
  names: readonly string[],
): { readonly worse: readonly string[]; readonly missing: readonly string[] } => {
  const columns = columnsOf([recorded]).filter((column) => names.some((name) => column.startsWith(`${name}: `)))
  const pairs = columns.map((column) => [column, recorded.ratios.get(column), measured.get(column)] as const)
  return {
    worse: pairs.flatMap(([column, before, now]) =>
      before !== undefined && now !== undefined && now > before * TOLERANCE
        ? [`${column}: ${now} measured, ${before} recorded for ${recorded.version}`]
        : [],
    ),
    missing: pairs.flatMap(([column, before, now]) => {
      if (before !== undefined && now !== undefined) return []
      const absent = [...(now === undefined ? ['measured'] : []), ...(before === undefined ? ['recorded'] : [])]
      return [`${column}: not compared, because it is not ${absent.join(' and not ')}`]
    }),
  }
}
