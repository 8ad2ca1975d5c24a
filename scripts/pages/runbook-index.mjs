// docs/runbooks/index.md: alerts by symptom, the order in which to work, and every row.
import { addressOf, levelsOf } from '../../.cache/modules/src/health/rules/rule.js'

const ORDER = ['critical', 'warning', 'info', 'none']

/** One line per row, whatever the number of its severities. */
const tableOf = (rows) => {
  const byAddress = new Map()
  for (const row of rows.flatMap(levelsOf)) {
    const key = `${addressOf(row)} ${row.causedBy ?? 'own'}`
    byAddress.set(key, [...(byAddress.get(key) ?? []), row])
  }
  return [...byAddress.values()]
    .toSorted(([a], [b]) => (addressOf(a) < addressOf(b) ? -1 : 1))
    .map(([row, ...others]) => {
      const severities = ORDER.filter((one) => [row, ...others].some(({ severity }) => severity === one))
      return `| ${link(addressOf(row))} | ${severities.join(', ')} | ${row.causedBy ?? 'own'} | ${row.summary.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, label) => label.toUpperCase())} |`
    })
}

const SYMPTOMS = [
  ['No new block arrives', 'NetworkHalted ServiceDown Isolated BlockStalled FinalityStalled'],
  ['The node is behind, or the RPC returns old blocks', 'Behind BlocksyncWindow ExecutionSlow'],
  ['The RPC refuses connections, or returns errors', 'ServiceDown RpcDown RpcSlow'],
  ['No votes, or late votes', 'NotVoting LeftActiveSet ClockDrift'],
  ['Own rounds time out, rewards are missing', 'LeaderTimeouts OwnBlocksEmpty'],
  ['A service exits, or does not start', 'ServiceDown ServiceCrashed LogTrouble'],
  [
    'The node does not follow the chain after a reboot',
    'BlockStalled.rebooted HostSetUp.kernel HostSetUp.huge-pages Blind.directory',
  ],
  [
    'Problems after an upgrade, or before a fork',
    'LogTrouble.timeline-missing ForkNotReady UpgradeDue PartialRestart LogsIncomplete.format',
  ],
  ['Statesync does not end', 'StatesyncFrozen Statesync'],
  ['Few peers', 'Isolated PeersFew UdpDrops'],
  ['Memory is scarce, or a process was killed', 'MemoryLow ServiceCrashed'],
  ['A file system fills up', 'DiskFull Cleanup'],
  ['The database fills up', 'StorageFull'],
  ['A drive fails', 'DriveGone DriveFailing Heat.drive'],
  ['State roots or block hashes differ', 'StateDiverged'],
  ['The validator has left the active set, or is about to', 'LeftActiveSet StakeLow ValidatorFlagged'],
  ['Keys: missing, invalid, readable by others, used twice', 'IdentityTwice KeyFile'],
  ['The query service fails', 'QueryServiceDown QueryServiceBehind QueryServiceSlow'],
  ['A dashboard is empty', 'AgentDown AgentAbsent CollectorDown Blind'],
  ['No notification arrives', 'MonitoringFailing Watchdog Maintenance'],
]

const link = (address) => {
  const [alert, why] = address.split('.')
  return `[${address}](${alert}.md${why === undefined ? '' : `#${why}`})`
}

const symptomRows = () =>
  SYMPTOMS.map(([symptom, names]) => {
    const links = names.split(' ').map((name) => link(`Chain${name}`))
    return `| ${symptom} | ${links.join(', ')} |`
  })

/** The rows that explain others, causes first: each line has those whose causes are all in the lines before. */
const causesInOrder = (all) => {
  const rows = all.flatMap(levelsOf)
  const causesOf = new Map()
  for (const row of rows) {
    const causes = causesOf.get(addressOf(row)) ?? new Set()
    causesOf.set(addressOf(row), causes)
    for (const address of (row.explainedBy ?? []).flatMap(({ alerts }) => alerts)) causes.add(address)
  }
  const sources = new Set([...causesOf.values()].flatMap((causes) => [...causes]))
  const lines = [['ChainAgentDown']]
  while (sources.size > 0) {
    const next = [...sources].filter((alert) => [...(causesOf.get(alert) ?? [])].every((cause) => !sources.has(cause)))
    if (next.length === 0) throw new Error(`alerts explain each other: ${[...sources].join(', ')}`)
    for (const alert of next) sources.delete(alert)
    lines.push(next.toSorted((a, b) => a.localeCompare(b)))
  }
  return lines
}

/** The alerts that page, each with the reason of its first critical rule. */
const pageRows = (rows) => {
  const reasons = new Map()
  for (const { alert, severity, page } of rows.flatMap(levelsOf)) {
    if (severity === 'critical' && !reasons.has(alert)) reasons.set(alert, page)
  }
  return [...reasons]
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([alert, page]) => `| ${link(alert)} | ${page} |`)
}

export const renderRunbookIndex = (rows) =>
  `${[
    '# Runbooks',
    '',
    'Generated from the rules by `npm run generate`. One page per name: its meaning, what to check, and what to do. A name is a cause with one first',
    'action; the label `why` is the mechanism, and has a section in the page. NAME.why is the address of a row in settings and commands.',
    '',
    '**critical** pages immediately, **warning** is for the same day, **info** is for information; **none** is for Alertmanager only.',
    '',
    'Run the commands on the host of the node, as a user who may read its journal. `sudo` is shown where that is not enough; `jq` is a',
    'Debian package. All lines of a service have the same priority in the journal, whatever their level: `journalctl -p` would hide them all,',
    'so use `-g` to search for the level in the text.',
    '',
    'When a critical alert fires, the agent keeps its evidence, because the journal of a DEBUG log may have only hours: `chain-agent incident latest`',
    'prints the journals from 60 s before to 30 s after, the diagnosis and the readings',
    '([more](../explanation/looking-back.md#the-evidence-of-an-alert)). Save it before you restart anything: `chain-agent bundle` contains it.',
    '',
    'Without a shell on the node: the section In Prometheus of each page has what the alert measures. It shows every node; select one with',
    '`instance="HOST:9843"`. The path after the name of a panel is a path of your Grafana.',
    '',
    '## By symptom',
    '',
    'Run `chain-agent recover` first: it names the recovery procedure that the node needs now.',
    '',
    '| symptom | alerts |',
    '|---|---|',
    ...symptomRows(),
    '',
    '## Alerts that page',
    '',
    'Each has a critical rule: the node does not do its work, or soon will not, and what is lost until the morning is in the second column. What only others cause is no page.',
    '',
    '| alert | why it cannot wait |',
    '|---|---|',
    ...pageRows(rows),
    '',
    '## If several alerts fire',
    '',
    'Work on the first alert of this list that fires: it can cause the ones after it. Alertmanager inhibits those for the same node. Start with',
    'ChainAgentDown: without the agent the state of its node is unknown. Handle an alert that is not in the list after these, critical first.',
    '',
    ...causesInOrder(rows).map((alerts, index) => `${index + 1}. ${alerts.map(link).join(', ')}`),
    '',
    '## All alerts',
    '',
    'Caused by: `own`, the node, its host or its monitoring; `network`, the validators together; `others`, peers, publishers or clients. A message has',
    'it unless it is `own`.',
    '',
    '| alert | severity | caused by | summary |',
    '|---|---|---|---|',
    ...tableOf(rows),
  ].join('\n')}\n`
