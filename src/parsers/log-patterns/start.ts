import type { LogPatternRow } from './pattern.ts'

/** The error of an option as the library CLI11 prints it, which execution parses its options with. */
const OPTION_ERROR = String.raw`The following arguments? (?:was|were) not expected: |Could not convert: |--[\w,-]+(?:: | is required\b| requires | excludes )`

/** Refused starts: options, configuration, keys, and the files that consensus starts from. */
export const start: readonly LogPatternRow[] = [
  {
    name: 'start_refused',
    services: ['bft', 'execution', 'rpc'],
    text: `(?:error: (?!(?:secp|bls) secret|TOML parse error|forkpoint must have|invalid prometheus label|failed to fetch local)|${OPTION_ERROR})`,
    isBare: true,
    meaning: 'A program refused to start and ended: the line has the reason.',
    advice:
      'Read the line: it names an option, a file or a value. Fix that, then start consensus and execution together.',
  },
  {
    name: 'rpc_not_started',
    services: ['rpc'],
    text: 'Error: ',
    isBare: true,
    meaning:
      'The RPC ended with an error, usually at its start: another program uses its address, or node.toml cannot be read.',
    advice:
      'Read the reason in the line. For `AddrInUse` find the program with `ss -ltnp`. systemd starts the RPC again by itself.',
  },
  {
    name: 'keystore_rejected',
    // The text for the BLS key has the word twice.
    text: 'error: (?:secp|bls) secret(?: secret)? must be encoded in keystore json',
    isBare: true,
    meaning: 'Consensus cannot open a keystore and did not start. A wrong password gives the same text.',
    advice:
      "Check KEYSTORE_PASSWORD in the node's environment file and the keystore that the line names, secp or bls: `chain-agent keys verify`. Do not create new keys.",
  },
  {
    name: 'config_rejected',
    text: '(?:error: (?:TOML parse error|forkpoint must have|invalid prometheus label)|duplicate prometheus label)',
    endsProcess: true,
    meaning: 'Consensus rejects a configuration file, usually that of another version, and ends.',
    advice: 'Compare the file with the example of the installed version, at the line that is named.',
  },
  {
    name: 'config_fetch_failed',
    text: 'error: failed to fetch local and remote configs',
    isBare: true,
    meaning: 'Consensus found neither a local nor a remote forkpoint and validators file, and did not start.',
    advice: 'Check the URLs in its environment file and the network, or copy both files from another node.',
  },
  {
    name: 'remote_files_unavailable',
    text: 'failed to fetch remote configs, using local forkpoint',
    severity: 'info',
    meaning:
      'At its start consensus got no remote forkpoint and validators file, because a URL is unset or unreachable: it starts from the local ones.',
    advice:
      'No action needed after a short stop. If the node was stopped for long, set both URLs or copy both files before the start: with an old forkpoint consensus ends again.',
    documents: ['soft-reset', 'full-node'],
  },
  {
    name: 'remote_files_inconsistent',
    text: 'remote validators config missing validator set for remote forkpoint',
    alert: 'ChainLogTrouble.others',
    meaning:
      'The remote validators file has no set for an epoch of the remote forkpoint: consensus uses its local files instead, and a soft reset has no effect.',
    advice:
      'Try again later, set the URLs of another publisher, or copy both files from one node, with the services stopped.',
    documents: ['soft-reset'],
  },
  {
    name: 'remote_files_unused',
    text: String.raw`local forkpoint within \d+ rounds of remote forkpoint, using local configs`,
    severity: 'info',
    meaning:
      'The remote forkpoint is not more than `statesync_threshold` rounds newer than the local one: consensus starts from its local files and gets the blocks from peers.',
    advice: 'No action needed: it is the usual line of a start after a short stop.',
  },
  {
    name: 'forkpoint_invalid',
    // The second line of an assertion of Rust. Only the thread and the place are on the first.
    text: String.raw`\s*left: Err\((?:TooFewValidatorSets|TooManyValidatorSets|ValidatorSetsNotConsecutive|InvalidValidatorSetStartEpoch|InvalidQC|InvalidHighCertificate)\)`,
    isBare: true,
    meaning: 'Consensus did not start: forkpoint and validators file do not belong together, or one is damaged.',
    advice: 'Take both files from one source, then start consensus and execution together.',
    documents: ['soft-reset'],
  },
  {
    name: 'validator_set_differs',
    text: String.raw`assertion .left == right. failed: Unexpected locked epoch valset`,
    isBare: true,
    meaning:
      'Consensus ended before it was live: the validators file has another validator set for the next epoch than the database.',
    advice:
      'A restart does not help. Take a new forkpoint and validators file from one source, then start the services together.',
    documents: ['soft-reset'],
  },
  {
    name: 'database_empty',
    text: String.raw`is DB state empty\?`,
    isBare: true,
    meaning: 'Consensus did not start: its forkpoint is at the beginning of the chain, and the database is empty.',
    advice: 'Check the device of the database and the forkpoint. If the database is new, follow the hard reset.',
    documents: ['hard-reset'],
  },
  {
    name: 'validators_unknown',
    text: '(?:validators config missing validator set for epoch|unknown validator set for current_epoch)',
    isBare: true,
    meaning: 'The validators file has no validator set for the epoch, and consensus ended: the file is too old.',
    advice: 'Fetch a current forkpoint and validators file, then start consensus and execution together.',
    documents: ['soft-reset'],
  },
  {
    name: 'forkpoint_old',
    text: String.raw`remote forkpoint over \d+ rounds older than local forkpoint`,
    alert: 'ChainLogTrouble.others',
    meaning: 'The forkpoint on the network is older than the local one: its publisher has stopped.',
    advice: 'No action needed for this node. Ask the publisher of the forkpoint, or set another URL.',
  },
  {
    name: 'files_not_written',
    text: 'failed to write (?:(?:remote )?forkpoint to toml string|name records to file)',
    meaning: 'Consensus could not write a file that it reads at its next start.',
    advice: "Check the free space and the owner of the node's directory.",
  },
  {
    name: 'metrics_not_started',
    text: '(?:failed to initialize prometheus metrics|failed to start metrics server)',
    endsProcess: true,
    meaning: 'Consensus could not open its metrics endpoint and ended with exit code 0.',
    advice:
      'Check whether another program uses the address of `[metrics]` in node.toml: `ss -ltnp`. Free or change it, then start consensus and execution together.',
  },
  {
    name: 'metrics_server_failed',
    text: 'metrics server failed',
    meaning: 'The metrics endpoint of consensus has ended; consensus itself continues.',
    advice:
      'Restart consensus and execution together at a convenient time. Until then, the alerts on peers and votes cannot fire.',
  },
]
