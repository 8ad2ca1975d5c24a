/** The dashboards: the file and, with a prefix, the uid. */
export type DashboardName =
  | 'agent'
  | 'consensus'
  | 'duties'
  | 'fleet'
  | 'node'
  | 'query-service'
  | 'staking'
  | 'storage'

/** A link of a value, a cell or a bar. */
export interface Link {
  readonly title: string
  readonly url: string
}

export const uidOf = (name: DashboardName): string => `chain-${name}`

/** FNV-1a. Titles are the only thing about a panel that rarely changes and is unique in a dashboard. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  return hash
}

/** The id of a panel, from its title: it stays the same when other panels are added, so links to it keep working. */
export const panelIdOf = (title: string): number => (hashOf(title) % 999_999) + 1

/** The panel of each dashboard that lists them. */
export const ALERT_LIST = 'Alerts that fire'

const TIME_AND_SOURCE = '${__url_time_range}&${datasource:queryparam}'

/** Link to a panel of the same node, shown alone. */
export const toPanel = (dashboard: DashboardName, panel: string): Link => ({
  title: panel,
  url: `/d/${uidOf(dashboard)}?${TIME_AND_SOURCE}&var-job=\${job}&\${cluster:queryparam}&\${instance:queryparam}&viewPanel=${panelIdOf(panel)}`,
})

/** A node without a cluster has an empty one: `cluster=~""` selects the series without the label. */
const nodeUrl = (labels: string, instance: string): string =>
  `/d/${uidOf('node')}?${TIME_AND_SOURCE}&var-job=\${${labels}.job}&var-cluster=\${${labels}.cluster}&var-instance=\${${labels}.${instance}}`

/** Link from a row of a table with the column Node and the hidden columns NODE_LABELS. */
export const TO_NODE_FROM_TABLE: Link = {
  title: 'Dashboard of ${__data.fields.Node}',
  url: nodeUrl('__data.fields', 'Node'),
}

/** The labels in addition to the name that identify a node. */
export const NODE_LABELS = ['job', 'cluster']

/** Link from a bar, whose series has the labels. */
export const TO_NODE: Link = {
  title: 'Dashboard of ${__field.labels.instance}',
  url: nodeUrl('__field.labels', 'instance'),
}
