// docs/reference/node-documentation.md: what the node's public documentation states about steps that cost data or time.
import { NODE_DOCUMENTATION } from '../../.cache/modules/core/node-documentation.js'

export const renderNodeDocumentationPage = () =>
  `${[HEAD, ...Object.entries(NODE_DOCUMENTATION).map(chapter)].join('\n')}\n`

/** From another page of docs/reference. */
export const linkToDocument = (id) => `[${id}](node-documentation.md#${id.replaceAll('.', '')})`

const chapter = ([id, { title, url, states }]) => `
## ${id}

[${title}](${url})

${states.map((fact) => `- ${fact}`).join('\n')}`

const HEAD = `# The node's documentation

Generated from \`src/core/node-documentation.ts\` by \`npm run generate\`.

Advice of this project that costs a database, a key or an hour names its source: \`chain-agent recover\` as \`[hard-reset]\` with a
list of the addresses, [patterns](patterns.md) and the [runbooks](../runbooks/index.md) as a link to this page. What is listed are the facts on
which the advice relies. If the node's documentation differs from this page, it is right: it is newer.`
