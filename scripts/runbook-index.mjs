// docs/runbooks/index.md: every alert with its severity, by rule file.
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'

const SUFFIX = '.rules.yaml'
const ORDER = ['critical', 'warning', 'info', 'none']

const alertsOf = (file) =>
  parse(readFileSync(`alerts/${file}`, 'utf8')).groups.flatMap(({ rules }) =>
    rules.filter(({ alert }) => alert !== undefined),
  )

/** One row per alert, whatever the number of its rules. */
const rowsOf = (file) => {
  const byName = new Map()
  for (const rule of alertsOf(file)) {
    byName.set(rule.alert, [...(byName.get(rule.alert) ?? []), rule])
  }
  return [...byName].map(([alert, rules]) => {
    const severities = ORDER.filter((one) => rules.some(({ labels }) => labels.severity === one))
    return `| [${alert}](${alert}.md) | ${severities.join(', ')} | ${rules[0].annotations.summary} |`
  })
}

export const renderRunbookIndex = () =>
  `${[
    '# Runbooks',
    '',
    'Generated from `alerts/` by `npm run generate`. One page an alert: what it means, what to look at, what to do.',
    '',
    '**critical** wakes somebody now, **warning** is for today, **info** is context; **none** is for Alertmanager alone.',
    '',
    'The commands are for the host of the node, and for somebody who may read its journal; `sudo` stands where that is not enough, and `jq`',
    "is Debian's package. All lines of a service have one priority in the journal, whatever they say: `journalctl -p` would hide them all,",
    'so that `-g` looks for the level in the text.',
    ...readdirSync('alerts')
      .filter((file) => file.endsWith(SUFFIX))
      .sort()
      .flatMap((file) => {
        const rows = rowsOf(file)
        if (rows.length === 0) return []
        return [
          '',
          `## ${file.slice(0, -SUFFIX.length)}`,
          '',
          '| alert | severity | in a sentence |',
          '|---|---|---|',
          ...rows,
        ]
      }),
  ].join('\n')}\n`
