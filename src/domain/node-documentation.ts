/** A public page, release note or source file of the node. */
export interface NodeDocument {
  readonly title: string
  readonly url: string
}

const DOCS = 'https://docs.monad.xyz/node-ops'
const UPGRADE = `${DOCS}/upgrade-instructions`
const BFT = 'https://github.com/category-labs/monad-bft/blob/master'
const EXECUTION = 'https://github.com/category-labs/monad/blob/main'
const MIGRATION_DOCS =
  'https://github.com/category-labs/monad/blob/max/page-store-migration-runbook/docs/page_store_migration_runbook.md'

/**
 * The sources of every advice that costs a database, a key or an hour. A text cites one by its key: `[hard-reset]`.
 * The runbooks link to docs/reference/node-documentation.md, which is generated from this table and from what
 * scripts/compare-source/node-source.yaml has of each document: the facts that an advice relies on.
 */
export const NODE_DOCUMENTATION = {
  'node-recovery': { title: 'Recovering a node', url: `${DOCS}/node-recovery` },
  'soft-reset': { title: 'Soft reset', url: `${DOCS}/node-recovery/soft-reset` },
  'hard-reset': { title: 'Hard reset', url: `${DOCS}/node-recovery/hard-reset` },
  'reset-workspace': {
    title: 'The reset script of the consensus package',
    url: `${BFT}/debian/opt/monad/scripts/reset-workspace.sh`,
  },
  'full-node': { title: 'Full node installation', url: `${DOCS}/full-node-installation` },
  'v0.15.0': { title: 'Upgrade instructions of v0.15.0', url: `${UPGRADE}/v0.15.0` },
  'mpt-upgrade': {
    title: 'monad-mpt --upgrade',
    url: 'https://github.com/category-labs/monad/blob/a70b99971ec302baf5288ceb99e313789668de10/docs/monad_mpt_upgrade.md',
  },
  'v0.15.2': { title: 'Upgrade instructions of v0.15.2', url: `${UPGRADE}/v0.15.2` },
  'page-migration': {
    title: 'MIP-8 activation and page storage migration',
    url: `${UPGRADE}/page-storage-mip-8-migration`,
  },
  'migration-runbook': { title: "Operators' runbook of the page storage migration", url: MIGRATION_DOCS },
  'v0.16.1': { title: 'Upgrade instructions of v0.16.1', url: `${UPGRADE}/v0.16.1` },
  'v0.16.2': { title: 'Upgrade instructions of v0.16.2', url: `${UPGRADE}/v0.16.2` },
  'v0.16.3': { title: 'Upgrade instructions of v0.16.3', url: `${UPGRADE}/v0.16.3` },
  'v0.16.5': { title: 'Upgrade instructions of v0.16.5', url: `${UPGRADE}/v0.16.5` },
  'metrics-migration': { title: 'Prometheus metrics migration', url: `${UPGRADE}/prometheus-metrics-migration` },
  'storage-tool': { title: 'Options of the storage tool', url: `${EXECUTION}/category/mpt/cli_tool_impl.cpp` },
  'mpt-service': {
    title: 'The unit that creates the database on a new device',
    url: `${BFT}/debian/usr/lib/systemd/system/monad-mpt.service`,
  },
  'database-metadata': {
    title: "Checks of the database's metadata",
    url: `${EXECUTION}/category/mpt/db_metadata_context.cpp`,
  },
  'execution-result': {
    title: 'Validation of results in execution',
    url: `${EXECUTION}/category/execution/runloop/runloop_monad.cpp`,
  },
  'start-forkpoint': {
    title: 'Choice of the forkpoint at the start of consensus',
    url: `${BFT}/monad-node/src/state.rs`,
  },
  'statesync-threshold': { title: 'Start of consensus', url: `${BFT}/monad-state/src/lib.rs` },
  'statesync-client': {
    title: 'The statesync client',
    url: `${EXECUTION}/category/statesync/statesync_client_context.cpp`,
  },
  keystore: { title: 'The keystore tool', url: `${BFT}/monad-keystore/README.md` },
  'node-migration': { title: 'Node migration', url: `${DOCS}/node-recovery/node-migration` },
} satisfies Readonly<Record<string, NodeDocument>>

export type DocumentId = keyof typeof NODE_DOCUMENTATION

/** The citation at the end of a sentence: ` [hard-reset]`. */
export const cite = (...ids: readonly DocumentId[]): string => ids.map((id) => ` [${id}]`).join('')

/** The documents that these texts cite, in the order of the table. */
export const citedIn = (texts: readonly string[]): readonly (NodeDocument & { readonly id: string })[] =>
  Object.entries<NodeDocument>(NODE_DOCUMENTATION)
    .filter(([id]) => texts.some((text) => text.includes(`[${id}]`)))
    .map(([id, document]) => ({ id, ...document }))
