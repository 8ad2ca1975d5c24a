// The result of the comparison as text.

const HEADINGS = {
  gone: 'gone from the source',
  moved: 'moved',
  changed: 'another value',
  alternative: 'an alternative that this source does not have',
}
const KINDS = { warn: 'warning', error: 'error', ends: 'process ends' }
const MAX_WIDTH = 110

export const renderText = (result, { all, record }) =>
  [
    ...Object.entries(result.commits).map(
      ([repository, commit]) => `${repository} ${commit}${since(result, repository)}`,
    ),
    `Compared: ${Object.entries(result.compared)
      .map(([what, count]) => `${count} ${what}`)
      .join(', ')}.`,
    '',
    ...renderFindings(result.findings),
    '',
    ...renderCounts(result.reports, result.new),
    '',
    ...renderTexts(all ? 'Without a name' : 'New without a name', all ? result.unnamed : result.new),
    ...(record ? ['', 'Recorded.'] : []),
  ].join('\n') + '\n'

const since = ({ recorded }, repository) =>
  recorded[repository] === undefined ? ', not recorded before' : `, recorded: ${recorded[repository]}`

const renderFindings = (findings) => {
  if (findings.length === 0) return ['Everything that the definitions name is where they say.']
  return findings.map(({ kind, what, name, from, to, text }) => {
    const places = [from, to].filter((place) => place !== undefined).join(' → ')
    return `${HEADINGS[kind]}: ${what} ${name}${places === '' ? '' : `, ${places}`}${text === undefined ? '' : `: ${text}`}`
  })
}

/** The columns of a crate: how many there are, and how many of them have no name of their own. */
const renderCounts = (reports, fresh) => {
  const groups = new Map()
  for (const { group, kind, text, name } of reports) {
    const row = groups.get(group) ?? { warn: 0, error: 0, ends: 0, unnamed: 0, general: 0, plain: 0 }
    row[kind]++
    if (text === null) row.plain++
    else if (name === null) row[kind === 'ends' ? 'general' : 'unnamed']++
    groups.set(group, row)
  }
  const added = (group) => fresh.filter((one) => one.group === group).length
  const rows = [...groups].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const line = (cells) =>
    cells.map((cell, at) => (at === 0 ? String(cell).padEnd(44) : String(cell).padStart(9))).join('')
  const total = (key) => rows.reduce((sum, [, row]) => sum + row[key], 0)
  const cells = (row) => [row.warn, row.error, row.ends, row.unnamed, row.general, row.plain]
  return [
    'Warnings, errors, and texts with which the process ends. Unnamed: warnings and errors that no pattern or parser names.',
    'General: ends of the process that only the patterns for any panic or assertion name. No text: the condition is printed.',
    line(['', 'warnings', 'errors', 'ends', 'unnamed', 'general', 'no text', 'new']),
    ...rows.map(([group, row]) => line([group, ...cells(row), added(group)])),
    line(['all', ...['warn', 'error', 'ends', 'unnamed', 'general', 'plain'].map(total), fresh.length]),
  ]
}

const renderTexts = (heading, texts) => [
  `${heading}: ${texts.length}`,
  ...texts.map(({ place, line, kind, text }) => {
    const shown = text.replaceAll(/\s+/g, ' ')
    return `  ${place}:${line} ${KINDS[kind]}: ${shown.length > MAX_WIDTH ? `${shown.slice(0, MAX_WIDTH)}…` : shown}`
  }),
]
