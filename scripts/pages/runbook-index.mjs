// docs/runbooks/index.md: alerts by symptom, the order in which to work, and every alert by rule file.
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { levelsOf } from '../../.cache/modules/src/health/rules/rule.js'

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

const SYMPTOMS = [
  ['No new block arrives', 'NetworkHalted ServiceDown ConsensusDeadlock Isolated BlockStalled FinalityStalled'],
  ['The node is behind, or the RPC returns old blocks', 'Behind BlocksyncWindow ExecutionLagging ExecutionSlow'],
  ['The RPC refuses connections, or returns errors', 'ServiceDown RpcDown RpcErrors RpcSlow RpcBudget'],
  ['No votes, or late votes', 'NotVoting VotesLate LeftActiveSet ClockDrift'],
  ['Own rounds time out, rewards are missing', 'LeaderTimeoutsInARow LeaderTimeouts ProposalShortfall OwnBlocksEmpty'],
  ['A service exits, or does not start', 'ServiceDown ServiceCrashed Assertion LogTrouble ServiceRestarting'],
  [
    'The node does not follow the chain after a reboot',
    'RebootedNotSyncing KernelBlocked HugePagesMissing DirectoryGone',
  ],
  [
    'Problems after an upgrade, or before a fork',
    'TimelineMissing ForkNotReady RestartPending PartialRestart FormatDrift',
  ],
  ['Statesync does not end', 'StatesyncFrozen Statesync'],
  ['Few peers', 'Isolated SessionsLow UpstreamThin UdpDrops NetworkNoise'],
  ['Memory is scarce, or a process was killed', 'MemoryLow OomKill ServiceCrashed'],
  ['A file system fills up', 'DiskFull DiskFilling Cleanup'],
  ['The database fills up', 'StorageFull StorageFreeChunksLow StorageCompactionSoon StorageLowForMigration'],
  ['A drive fails', 'DriveGone DriveFailing DriveErrors DriveHot DriveWorn'],
  ['State roots or block hashes differ', 'StateDiverged ReferenceDiffers BadStateRoot'],
  [
    'The validator has left the active set, or is about to',
    'LeftActiveSet OutsideActiveSet LeavesActiveSet StakeMarginLow',
  ],
  [
    'Keys: missing, invalid, readable by others, used twice',
    'IdentityTwice KeyFileMissing KeyFileInvalid KeyFileExposed',
  ],
  [
    'The query service fails',
    'QueryServiceDown QueryServiceStopped QueryServiceStalled QueryServiceErrors QueryServiceSlow',
  ],
  ['A dashboard is empty', 'AgentDown AgentAbsent NodeNotScraped CollectorDown Blind'],
  ['No notification arrives', 'MonitoringFailing Watchdog HeartbeatFailing Maintenance'],
]

const link = (alert) => `[${alert}](${alert}.md)`

const symptomRows = () =>
  SYMPTOMS.map(([symptom, names]) => {
    const links = names.split(' ').map((name) => link(`Chain${name}`))
    return `| ${symptom} | ${links.join(', ')} |`
  })

/** The alerts that explain others, causes first: each line has those whose causes are all in the lines before. */
const causesInOrder = (rows) => {
  const causesOf = new Map()
  for (const { alert, explainedBy = [] } of rows.flatMap(levelsOf)) {
    const causes = causesOf.get(alert) ?? new Set()
    for (const cause of explainedBy.flatMap(({ alerts }) => alerts)) causes.add(cause)
    causesOf.set(alert, causes)
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
    'Generated from `alerts/` by `npm run generate`. One page per alert: its meaning, what to check, and what to do.',
    '',
    '**critical** pages immediately, **warning** is for the same day, **info** is for information; **none** is for Alertmanager only.',
    '',
    'Run the commands on the host of the node, as a user who may read its journal. `sudo` is shown where that is not enough; `jq` is a',
    'Debian package. All lines of a service have the same priority in the journal, whatever their level: `journalctl -p` would hide them all,',
    'so use `-g` to search for the level in the text.',
    '',
    'When a critical alert fires, the agent keeps its evidence, because the journal of a DEBUG log may have only hours: `chain-agent incident latest`',
    'prints the journals from 60 s before to 30 s after, the diagnosis and what changed',
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
    ...readdirSync('alerts')
      .filter((file) => file.endsWith(SUFFIX))
      .sort()
      .flatMap((file) => {
        const table = rowsOf(file)
        if (table.length === 0) return []
        return [
          '',
          `## ${file.slice(0, -SUFFIX.length)}`,
          '',
          '| alert | severity | summary |',
          '|---|---|---|',
          ...table,
        ]
      }),
  ].join('\n')}\n`
