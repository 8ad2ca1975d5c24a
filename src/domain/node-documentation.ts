/** A public page, release note or source file of the node, and what it states about steps that cost data or time. */
export interface NodeDocument {
  readonly title: string
  readonly url: string
  /** The facts that an advice relies on. */
  readonly states: readonly string[]
}

const DOCS = 'https://docs.monad.xyz/node-ops'
const UPGRADE = `${DOCS}/upgrade-instructions`
const BFT = 'https://github.com/category-labs/monad-bft/blob/master'
const EXECUTION = 'https://github.com/category-labs/monad/blob/main'
const MIGRATION_DOCS =
  'https://github.com/category-labs/monad/blob/max/page-store-migration-runbook/docs/page_store_migration_runbook.md'

/**
 * The sources of every advice that costs a database, a key or an hour. A text cites one by its key: `[hard-reset]`.
 * The runbooks link to docs/reference/node-documentation.md, which is generated from this table.
 */
export const NODE_DOCUMENTATION = {
  'node-recovery': {
    title: 'Recovering a node',
    url: `${DOCS}/node-recovery`,
    states: [
      'A soft reset is for a node that is close to the network; a hard reset works however far behind the node is.',
      'Both skip blocks: the node has no logs, receipts and traces of them. After a hard reset these are all blocks before the snapshot.',
      'A full replay keeps them, and is meant for RPC providers.',
    ],
  },
  'soft-reset': {
    title: 'Soft reset',
    url: `${DOCS}/node-recovery/soft-reset`,
    states: [
      'Since v0.12.1 consensus fetches forkpoint and validators file at its start, if both URLs are set in the environment file.',
      'The three services are restarted together.',
    ],
  },
  'hard-reset': {
    title: 'Hard reset',
    url: `${DOCS}/node-recovery/hard-reset`,
    states: [
      'It empties the local state and loads the newest snapshot of the network.',
      'Restoring the snapshot takes 1 to 5 minutes on mainnet and usually less than 5 on testnet (at most an hour), more as the chain grows.',
      'Statesync and blocksync then take less than 5 minutes for a snapshot that is some hours old.',
    ],
  },
  'reset-workspace': {
    title: 'The reset script of the consensus package',
    url: `${BFT}/debian/opt/monad/scripts/reset-workspace.sh`,
    states: [
      'It deletes ledger, forkpoint, validators file, write-ahead logs and peers, and truncates the database. It keeps the keys.',
      'It reads the encoding from the output of the storage tool, and assumes slot encoding if the tool prints nothing.',
    ],
  },
  'full-node': {
    title: 'Full node installation',
    url: `${DOCS}/full-node-installation`,
    states: [
      'How the device of the database is set up on a new drive, with logical blocks of 512 bytes; a wrong drive destroys the operating system.',
      'Which variables of the environment file name the URLs of forkpoint and validators file.',
    ],
  },
  'v0.15.0': {
    title: 'Upgrade instructions of v0.15.0',
    url: `${UPGRADE}/v0.15.0`,
    states: [
      'The database needs one migration of its metadata (`monad-mpt --storage /dev/triedb --upgrade`), with the storage tool of the new release, before the services start.',
      'It takes a second. A start without it ends with a message and damages nothing.',
    ],
  },
  'mpt-upgrade': {
    title: 'monad-mpt --upgrade',
    url: 'https://github.com/category-labs/monad/blob/a70b99971ec302baf5288ceb99e313789668de10/docs/monad_mpt_upgrade.md',
    states: [
      'It changes the metadata only, usually in less than a second, and may be run again. All services must be stopped.',
      'Each storage device of the services is named with `--storage`.',
    ],
  },
  'v0.15.2': {
    title: 'Upgrade instructions of v0.15.2',
    url: `${UPGRADE}/v0.15.2`,
    states: ['Activating and filling the page-encoded timeline takes about 8 minutes offline, once for each node.'],
  },
  'page-migration': {
    title: 'MIP-8 activation and page storage migration',
    url: `${UPGRADE}/page-storage-mip-8-migration`,
    states: [
      'Phase A adds a page-encoded timeline (kind `monad`) to the slot-encoded one (kind `ethereum`); phase B is the fork; phase C promotes the page-encoded timeline and deactivates the other.',
      'The database is migrated in place, without a sync from genesis.',
    ],
  },
  'migration-runbook': {
    title: "Operators' runbook of the page storage migration",
    url: MIGRATION_DOCS,
    states: [
      'On a mainnet database the dump took 5 minutes and the load 3.',
      'Before the fork a new database needs both timelines, each loaded from the snapshot. After it: a page-encoded primary alone, created with `--create-empty --state-machine monad`, into which an older snapshot can be loaded, too.',
      'A node that missed the fork is recovered forward only: activate, load, promote, start; or a hard reset to a page-encoded database.',
      '`--promote-secondary` does not check the fork: before it, the node ends at its next commit. After the fork there is no way back.',
      '`--deactivate-secondary` after the promotion drops the slot-encoded timeline and frees its space. The commands may be run again.',
    ],
  },
  'v0.16.1': {
    title: 'Upgrade instructions of v0.16.1',
    url: `${UPGRADE}/v0.16.1`,
    states: [
      'Execution starts only with a page-encoded timeline, primary or secondary.',
      'An older release leaves the chain at the fork (mainnet: 2026-09-02 14:30 UTC).',
    ],
  },
  'v0.16.2': {
    title: 'Upgrade instructions of v0.16.2',
    url: `${UPGRADE}/v0.16.2`,
    states: [
      'Never downgrade to a release older than v0.16.1: it applies the rules from before the fork and diverges.',
    ],
  },
  'v0.16.3': {
    title: 'Upgrade instructions of v0.16.3',
    url: `${UPGRADE}/v0.16.3`,
    states: [
      'Execution aborts if the encoding of the primary timeline does not match the revision of the block.',
      'State archive nodes that have not promoted the page-encoded timeline run `monad-mpt --storage /dev/triedb --promote-secondary` after the installation and before the start.',
    ],
  },
  'v0.16.5': {
    title: 'Upgrade instructions of v0.16.5',
    url: `${UPGRADE}/v0.16.5`,
    states: ['How to grow the device of the database, as an optional step.'],
  },
  'metrics-migration': {
    title: 'Prometheus metrics migration',
    url: `${UPGRADE}/prometheus-metrics-migration`,
    states: [
      'Since v0.16.0 consensus serves its metrics itself, by default on port 9143 of all addresses (`[metrics]` in `node.toml`).',
      'Collecting them through the OpenTelemetry collector is deprecated. The procedure waits for an announcement.',
    ],
  },
  'storage-tool': {
    title: 'Options of the storage tool',
    url: `${EXECUTION}/category/mpt/cli_tool_impl.cpp`,
    states: [
      '`--create-empty`, `--truncate` and `--restore` destroy all data. `--state-machine` defaults to `ethereum`, slot encoding.',
      '`--rewind-to` and `--reset-history-length` drop blocks.',
    ],
  },
  'mpt-service': {
    title: 'The unit that creates the database on a new device',
    url: `${BFT}/debian/usr/lib/systemd/system/monad-mpt.service`,
    states: ['It runs `--create` without `--state-machine`: the new database is slot-encoded.'],
  },
  'database-metadata': {
    title: "Checks of the database's metadata",
    url: `${EXECUTION}/category/mpt/db_metadata_context.cpp`,
    states: [
      'One invalid or dirty copy is repaired from the other when a program opens the database for writing, which execution does.',
      'Two dirty copies are unrecoverable: restore. Virtual offsets that run out: reset the database.',
      'A database of another version than the current and the previous one is not opened.',
    ],
  },
  'execution-result': {
    title: 'Validation of results in execution',
    url: `${EXECUTION}/category/execution/runloop/runloop_monad.cpp`,
    states: [
      'A block that fails is not committed (`propose_block`).',
      "A result that differs from the network's is found some blocks later, in a state that is committed already (`validate_delayed_execution_results`).",
    ],
  },
  'start-forkpoint': {
    title: 'Choice of the forkpoint at the start of consensus',
    url: `${BFT}/monad-node/src/state.rs`,
    states: [
      'The remote forkpoint replaces the local one only if both URLs are set, both files can be fetched, the validators file has every epoch of the forkpoint, and it is more than `statesync_threshold` rounds newer; or if the local files cannot be read (`get_latest_configs`).',
      'With a root that the database has executed, consensus is live at once, without statesync (`maybe_start_consensus` in `monad-state/src/lib.rs`), and panics if the network is 3/2 of `statesync_threshold` blocks ahead (`maybe_statesync` in `monad-consensus-state/src/lib.rs`).',
    ],
  },
  'statesync-threshold': {
    title: 'Start of consensus',
    url: `${BFT}/monad-state/src/lib.rs`,
    states: [
      'A node that is more than 30,000 blocks behind (`STATESYNC_BLOCK_THRESHOLD`), or whose database is empty, advises in its log to restore a snapshot first.',
    ],
  },
  'statesync-client': {
    title: 'The statesync client',
    url: `${EXECUTION}/category/statesync/statesync_client_context.cpp`,
    states: [
      'After a start it continues from the last block that the database has finished: an unfinished target starts again.',
      'If the state root at the target is wrong, consensus ends; the state is in the database already (`monad-statesync-executor/src/client/mod.rs`).',
    ],
  },
  keystore: {
    title: 'The keystore tool',
    url: `${BFT}/monad-keystore/README.md`,
    states: [
      '`import` makes a keystore of the secret of a backup; `recover` prints the key of a keystore. `create` makes another key.',
    ],
  },
  'node-migration': {
    title: 'Node migration',
    url: `${DOCS}/node-recovery/node-migration`,
    states: ['A synced full node takes over the keys of a validator; the services of the old host are stopped first.'],
  },
} satisfies Readonly<Record<string, NodeDocument>>

export type DocumentId = keyof typeof NODE_DOCUMENTATION

/** The citation at the end of a sentence: ` [hard-reset]`. */
export const cite = (...ids: readonly DocumentId[]): string => ids.map((id) => ` [${id}]`).join('')

/** The documents that these texts cite, in the order of the table. */
export const citedIn = (texts: readonly string[]): readonly (NodeDocument & { readonly id: string })[] =>
  Object.entries<NodeDocument>(NODE_DOCUMENTATION)
    .filter(([id]) => texts.some((text) => text.includes(`[${id}]`)))
    .map(([id, document]) => ({ id, ...document }))
