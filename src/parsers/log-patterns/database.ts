import type { LogPatternRow } from './pattern.ts'

/** The database, in any program that opens it. */
export const database: readonly LogPatternRow[] = [
  {
    name: 'timeline_missing',
    services: ['execution'],
    text: String.raw`live \S+ requires a page-encoded timeline`,
    endsProcess: true,
    alert: 'ChainLogTrouble.timeline-missing',
    meaning: 'This version needs the page-encoded timeline, and the database has none (v0.16).',
    advice:
      'Add the page-encoded timeline with the services stopped, which takes about 8 minutes, then start all services together. Do not empty the database for it.',
    documents: ['v0.16.1', 'v0.15.2', 'page-migration'],
  },
  {
    name: 'primary_encoding',
    services: ['bft', 'execution'],
    // The program exits after it. Messages of other checks of the encoding, without the assertion, are db_encoding.
    text: "(?:.*: )?Assertion [`'].*(?:page_encoded|mip_8_active).*' failed",
    isBare: true,
    reasonOnNextLine: true,
    meaning:
      'The encoding of the primary timeline does not match the block: since the fork MIP-8 it must be page-encoded (v0.16.3).',
    advice:
      'If the database has a page-encoded secondary timeline, as an archive node has, promote it with the services stopped; if it has none, add it first. `chain-agent recover` has the commands. Never promote before the fork. A restart does not help.',
    documents: ['v0.16.3', 'migration-runbook'],
  },
  {
    name: 'db_old_format',
    services: ['any'],
    text: String.raw`(?:DB is on older format \(magic=|DB was generated with version |Detected pre-dual-timeline DB)`,
    endsProcess: true,
    meaning: 'The database has the format of another version: no program opens it (v0.15).',
    advice:
      'If the line names --upgrade, stop the services and run that command of the storage tool, which takes a second. If not, the package is of another release than the database: install the release that ran before. Nothing is damaged; do not reset the database.',
    documents: ['v0.15.0', 'mpt-upgrade', 'database-metadata'],
  },
  {
    name: 'db_encoding',
    // Consensus runs the statesync client, and the RPC reads the database.
    services: ['bft', 'execution', 'rpc'],
    text: String.raw`(?:\S+ revision \d+ at block \d+ crosses mip-8 cutoff|encoding mismatch at block|secondary timeline must be page-encoded|No client db timeline is page-encoded|read_storage_page is only valid on a page-encoded)`,
    endsProcess: true,
    meaning: 'The encoding of the database does not match this version or this block (v0.15, v0.16).',
    advice:
      'Compare the installed release with the one that the network requires, and the timelines of the database with its documentation. Never downgrade below v0.16.1 after the fork, and never promote a timeline before it.',
    documents: ['v0.16.2', 'page-migration', 'migration-runbook'],
  },
  {
    name: 'db_hard_reset',
    services: ['execution'],
    text: '(?:database must be (?:hard reset|empty) when loading snapshot|can not load checkpoint into non-empty database)',
    endsProcess: true,
    meaning: 'A snapshot was to be loaded into a non-empty database.',
    advice:
      'Check the device. If this database is to be replaced, follow the hard reset, and create the new one page-encoded.',
    documents: ['hard-reset', 'migration-runbook'],
  },
  {
    name: 'db_dirty',
    services: ['any'],
    text: '(?:DB metadata (?:was closed dirty|has a pending shrink/grow op)|First copy of metadata corrupted, but not opened)',
    endsProcess: true,
    meaning:
      'A program that opens the database for reading ended, because the last process that wrote to it did not close it, or changed it for more than a second.',
    advice:
      'Start execution, which repairs the database, then the program that logged the line. If execution runs, start that program again.',
    documents: ['database-metadata'],
  },
  {
    name: 'db_corrupt',
    services: ['any'],
    text: '(?:Neither copy of the DB metadata is valid|Both DB metadata copies are dirty|Detected corruption|Detected referenced offsets below compaction boundary|corrupt db_metadata|pending_shrink_grow disagrees)',
    endsProcess: true,
    meaning: 'The database is damaged, or the device contains no database: no program can use it.',
    advice:
      'Check the device, the drive (`chain-agent status host`) and the kernel log. If it is the right device, keep the log and follow the hard reset.',
    documents: ['database-metadata', 'hard-reset'],
  },
  {
    name: 'db_not_opened',
    services: ['any'],
    text: '(?:open failed due to|ftruncate failed due to|Storage pool source .{0,300}? has not been initiali[sz]ed|Trying to initialise new DB but storage pool contains existing data)',
    endsProcess: true,
    meaning: 'The database cannot be opened: its device is missing, not initialised, or has other data.',
    advice:
      'Check the device that the service names with `--db`, its owner, and after a reboot its udev rule. Initialise nothing that may contain data.',
  },
  {
    name: 'db_path_failed',
    services: ['bft', 'rpc'],
    text: 'Failed to inspect database path',
    meaning: 'The path of the database cannot be read: it does not exist, or the user may not read it.',
    advice: "Check the path that the service names, its owner, and after a reboot the device's udev rule.",
  },
  {
    name: 'db_path_ambiguous',
    text: '(?:assertion .left == right. failed: nothing in triedb path|triedb should exist in path)',
    isBare: true,
    meaning:
      'Consensus did not start: the path of the database is a directory that has not exactly one entry, or no database can be opened there.',
    advice:
      "Check the path of `--triedb-path` and after a reboot the device's udev rule. Remove other entries from the directory, not the database.",
  },
  {
    name: 'db_io_failed',
    services: ['any'],
    text: String.raw`(?:pread\(\d+|msync of |fsync of cnv chunk|MAP_FIXED failed)`,
    endsProcess: true,
    meaning: 'Reading or writing the database failed: the drive or the memory mapping.',
    advice: 'Check the kernel log and the drive (`chain-agent status host`) before you start anything.',
  },
  {
    name: 'virtual_offset',
    services: ['bft', 'execution'],
    text: 'Virtual offset space is running out',
    severity: 'critical',
    meaning: 'The database is running out of addresses for new data.',
    advice:
      'Plan a hard reset before the addresses are used up: the line is logged from 90 % on. At 100 % the program that writes ends.',
    documents: ['database-metadata', 'hard-reset'],
  },
  {
    name: 'virtual_offset_used_up',
    services: ['bft', 'execution'],
    text: 'Chunk count overflow detected',
    endsProcess: true,
    meaning: 'The database has no addresses left for new data, and the program that writes to it ended.',
    advice: 'Follow the hard reset: a restart does not help.',
    documents: ['database-metadata', 'hard-reset'],
  },
  {
    name: 'history_shortened',
    services: ['execution'],
    text: 'Adjust db history length down',
    meaning: 'The database is more than 80 % full and drops old state to stay below that.',
    advice: 'No immediate action: only history is dropped. If free space still decreases, add storage.',
  },
  {
    name: 'slow_commit',
    services: ['execution'],
    text: 'Slow block commit detected',
    meaning: 'Writing a block to the database took far too long.',
    advice: 'Check the drive of the database: temperature, health, and other processes that write to it.',
  },
  {
    name: 'triedb_unavailable',
    text: 'triedb unavailable, migration-phase and disk-usage metrics will not be reported',
    meaning: 'Consensus cannot open the database for its metrics.',
    advice: "Check that the database's device exists and that the node's user may read it.",
  },
  {
    name: 'triedb_stats_missing',
    text: 'no triedb stats sample; check that --triedb-stats-path',
    meaning:
      'Consensus cannot read the statistics of execution on the database: their metrics keep their last values, or are absent.',
    advice:
      'Check that `--triedb-stats-path` of consensus and `--db-stats-file` of execution are the same file, and that the user of consensus may read it.',
  },
  {
    name: 'triedb_without_cache',
    text: 'state backend has no trie-node cache, its metrics will not be reported',
    severity: 'info',
    meaning: 'Consensus reads the state without a cache of its own: the metrics of that cache are absent.',
    advice: 'No action needed.',
  },
  {
    name: 'triedb_overloaded',
    services: ['bft', 'rpc'],
    text: '(?:TrieDB poll count went over limit|Polling thread channel full)',
    meaning: 'Requests to the database take too long: the drive is too slow for the load.',
    advice: 'Check the load of the drive, and the requests that the RPC gets.',
  },
  {
    name: 'triedb_read_failed',
    services: ['bft', 'rpc'],
    text: '(?:error decoding result from db|Error traversing db|Error awaiting result|rlp [a-z_ ]{1,30} ?decode failed|rlp decode failed)',
    meaning: 'A value could not be read from the database.',
    advice: 'Compare the versions of the programs: all must be of one release. If they are, check the drive.',
  },
]
