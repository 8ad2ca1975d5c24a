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
    'Generated from `alerts/` by `npm run generate`. One page per alert: its meaning, what to check, and what to do.',
    '',
    '**critical** pages immediately, **warning** is for the same day, **info** is for information; **none** is for Alertmanager only.',
    '',
    'Run the commands on the host of the node, as a user who may read its journal. `sudo` is shown where that is not enough; `jq` is a',
    'Debian package. All lines of a service have the same priority in the journal, whatever their level: `journalctl -p` would hide them all,',
    'so use `-g` to search for the level in the text.',
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
          '| alert | severity | summary |',
          '|---|---|---|',
          ...rows,
        ]
      }),
  ].join('\n')}\n`
