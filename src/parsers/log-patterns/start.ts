import type { LogPattern } from './pattern.ts'

/** Refused starts: options, configuration, keys. */
export const start: readonly LogPattern[] = [
  {
    name: 'start_refused',
    services: ['bft', 'rpc'],
    text: 'error: (?!(?:secp|bls) secret|TOML parse error|forkpoint must have|invalid prometheus label|failed to fetch local)',
    isBare: true,
    severity: 'critical',
    meaning: 'A program refused to start and ended: it prints the reason after `error:`.',
    advice:
      'Read the line: it names an option, a file or a value. Fix that, then start consensus and execution together.',
  },
  {
    name: 'keystore_rejected',
    services: ['bft'],
    text: 'error: (?:secp|bls) secret must be encoded in keystore json',
    isBare: true,
    severity: 'critical',
    meaning: 'Consensus cannot open a keystore and did not start. A wrong password gives the same text.',
    advice:
      "Check KEYSTORE_PASSWORD in the node's environment file and both keystores: `chain-agent keys verify`. Do not create new keys.",
  },
  {
    name: 'config_rejected',
    services: ['bft'],
    text: '(?:error: (?:TOML parse error|forkpoint must have|invalid prometheus label)|duplicate prometheus label)',
    severity: 'critical',
    meaning: 'Consensus rejects a configuration file, usually that of another version.',
    advice: 'Compare the file with the example of the installed version, at the line that is named.',
  },
  {
    name: 'config_fetch_failed',
    services: ['bft'],
    text: 'error: failed to fetch local and remote configs',
    isBare: true,
    severity: 'critical',
    meaning: 'Consensus found neither a local nor a remote forkpoint and validators file, and did not start.',
    advice: 'Check the URLs in its environment file and the network, or copy both files from another node.',
  },
  {
    name: 'validators_unknown',
    services: ['bft'],
    text: '(?:validators config missing validator set for epoch|unknown validator set for current_epoch|No validators found for current epoch)',
    severity: 'critical',
    meaning: 'The validators file has no validator set for the current epoch: it is too old.',
    advice: 'Fetch a current forkpoint and validators file, then start consensus and execution together.',
  },
  {
    name: 'forkpoint_old',
    services: ['bft'],
    text: String.raw`remote forkpoint over \d+ rounds older than local forkpoint`,
    severity: 'warning',
    meaning: 'The forkpoint on the network is older than the local one: its publisher has stopped.',
    advice: 'No action needed for this node. Ask the publisher of the forkpoint, or set another URL.',
  },
  {
    name: 'files_not_written',
    services: ['bft'],
    text: 'failed to write (?:(?:remote )?forkpoint to toml string|name records to file)',
    severity: 'warning',
    meaning: 'Consensus could not write a file that it reads at its next start.',
    advice: "Check the free space and the owner of the node's directory.",
  },
  {
    name: 'metrics_not_started',
    services: ['bft'],
    text: '(?:failed to initialize prometheus metrics|failed to start metrics server|metrics server failed)',
    severity: 'warning',
    meaning: 'The metrics endpoint of consensus is not available.',
    advice: 'Check whether another program uses its port. Without it, the alerts on peers and votes cannot fire.',
  },
]
