const TITLE = 'Dashboard of ${__data.fields.Node}'
const NODE = '/d/chain-node?${__url_time_range}&${datasource:queryparam}&var-job='

/** Link from a row of a table with the columns Node and job. */
export const TO_NODE_FROM_TABLE = {
  title: TITLE,
  url: `${NODE}\${__data.fields.job}&var-instance=\${__data.fields.Node}`,
}

/** Link from a bar, whose series has the labels. */
export const TO_NODE = {
  title: 'Dashboard of ${__field.labels.instance}',
  url: `${NODE}\${__field.labels.job}&var-instance=\${__field.labels.instance}`,
}
