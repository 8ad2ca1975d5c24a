// docs/reference/node-documentation.md: what the node's public documentation states about steps that cost data or time.
import { DOCUMENT_STATEMENTS, factsWith } from '../compare-source/node-source.mjs'
import { NODE_DOCUMENTATION } from '../../.cache/modules/src/domain/node-documentation.js'
import { NODE_FACTS } from '../../.cache/modules/src/domain/node-facts.js'

export const renderNodeDocumentationPage = () =>
  `${[HEAD, ...Object.entries(NODE_DOCUMENTATION).map(chapter), FACTS].join('\n')}\n`

/** From another page of docs/reference. */
export const linkToDocument = (id) => `[${id}](../../../docs/reference/node-documentation.md#${id.replaceAll('.', '')})`

const chapter = ([id, { title, url }]) => `
## ${id}

[${title}](${url})

${DOCUMENT_STATEMENTS[id].map((fact) => `- ${fact}`).join('\n')}`

const UNITS = { statesync_threshold: '× `statesync_threshold`', delta: '× delta' }

const FACTS = `
## Limits in the source

Numbers of the node on which rules, checks and advice rely, from \`src/domain/node-facts.ts\` and \`scripts/compare-source/node-source.yaml\`: \`npm run compare-source\` compares them with the
source. *received*: messages of other nodes, or other nodes themselves, apply the limit.

| value | what it limits | source | cause |
|---|---|---|---|
${factsWith(NODE_FACTS)
  .map(
    ({ value, unit, states, sources: [source] }) =>
      `| ${value.toLocaleString('en')} ${UNITS[unit] ?? unit} | ${states} | \`${source.function}\` in \`${source.file}\` | ${source.cause} |`,
  )
  .join('\n')}`

const HEAD = `# The node's documentation

Generated from \`src/domain/node-documentation.ts\` and \`scripts/compare-source/node-source.yaml\` by \`npm run generate\`.

Advice of this project that costs a database, a key or an hour names its source: \`chain-agent recover\` as \`[hard-reset]\` with a
list of the addresses, \`chain-agent check\` about a log line and the [runbooks](../runbooks/index.md) as a link to this page. What is listed are the facts on
which the advice relies. If the node's documentation differs from this page, it is right: it is newer.`
