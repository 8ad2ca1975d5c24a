// The tables of tiers and suites in CONTRIBUTING.md.
import { readFileSync } from 'node:fs'

const read = (file) => JSON.parse(readFileSync(file, 'utf8'))
const MARKS = { tiers: '| run ', suites: '| suite ' }

/** The page with both tables in the place of those that it has. */
export const renderSuites = (page) => {
  const { tiers, suites } = read('test/suites.json')
  const times = read('test/times.json')
  const tierRows = Object.entries(tiers).map(([name, tier]) => {
    const recorded = times.tiers[name]
    return [
      `\`npm ${name === 'test' ? 'test' : `run ${name}`}\``,
      tier.for,
      tier.shows,
      tier.budgetMinutes === undefined ? '' : `${tier.budgetMinutes} min`,
      recorded === undefined
        ? ''
        : `${recorded.minutes} min, ${recorded.date}, ${recorded.commit}, Node.js ${recorded.node.slice(1)}`,
    ]
  })
  const suiteRows = Object.entries(suites).map(([name, { needs, shows }]) => {
    const { files = '', tests = '', seconds = '' } = times.suites[name] ?? {}
    return [name, needs, shows, `${files}`, `${tests}`, `${seconds}`]
  })
  return [
    [MARKS.tiers, [['run', 'before', 'what', 'budget', 'recorded'], ...tierRows]],
    [MARKS.suites, [['suite', 'needs', 'shows', 'files', 'tests', 'seconds'], ...suiteRows]],
  ].reduce((text, [mark, rows]) => replaceTable(text, mark, rows), page)
}

/** The page with these rows in the place of its table that begins with `mark`. */
export const replaceTable = (page, mark, rows) => {
  const start = page.indexOf(`\n${mark}`) + 1
  if (start === 0) throw new Error(`the page has no table that begins with ${mark}`)
  const end = page.indexOf('\n\n', start)
  return page.slice(0, start) + table(rows) + page.slice(end)
}

/** As the formatter writes it. */
const table = ([head, ...rows]) => {
  const widths = head.map((_, column) => Math.max(3, ...[head, ...rows].map((row) => row[column].length)))
  const line = (row, fill = ' ') => `| ${row.map((cell, column) => cell.padEnd(widths[column], fill)).join(' | ')} |`
  return [
    line(head),
    line(
      head.map(() => ''),
      '-',
    ),
    ...rows.map((row) => line(row)),
  ].join('\n')
}
