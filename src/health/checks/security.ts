import { type Check, finding } from '../finding.ts'
import { joinList } from '../format.ts'

const STATES = [
  { state: 'missing', name: 'ChainKeyFileMissing', severity: 'critical', are: 'missing' },
  {
    state: 'invalid',
    name: 'ChainKeyFileInvalid',
    severity: 'critical',
    are: 'invalid',
  },
  { state: 'exposed', name: 'ChainKeyFileExposed', severity: 'warning', are: 'readable by others' },
] as const

const ADVICE = {
  missing:
    'Without it the node cannot be moved. `sudo chain-agent keys backup` writes a new backup, `sudo chain-agent keys restore` restores a keystore: see docs/keys.md.',
  invalid:
    'An empty or corrupt file is not a backup. `sudo chain-agent keys backup` writes a new backup, `sudo chain-agent keys restore` restores a keystore: see docs/keys.md.',
  exposed: 'Restrict its permissions: `chmod 600 FILE`. If other users could read it, treat the key as compromised.',
} as const

/** The key files, which are the identity of the node. */
export const keys: Check = ({ known }) =>
  STATES.flatMap(({ state, name, severity, are }) => {
    const files = known
      .series('chain_key_file_state')
      .filter(({ labels, value }) => labels['state'] === state && value === 1)
      .map(({ labels }) => `the ${labels['key']} ${labels['kind']}`)
    return files.length === 0
      ? []
      : [
          finding(
            name,
            { severity, says: `${joinList(files)} ${files.length === 1 ? 'is' : 'are'} ${are}` },
            { advice: [ADVICE[state]], subject: 'security' },
          ),
        ]
  })

/** Ports that should be reachable only from this host. */
export const ports: Check = ({ known }) => {
  const open = known
    .series('chain_host_port_exposed')
    .filter(({ value }) => value === 1)
    .map(({ labels }) => labels['port'] ?? '')
  return open.length === 0
    ? []
    : [
        finding(
          'ChainPortExposed',
          {
            severity: 'warning',
            says: `${open.length === 1 ? 'port' : 'ports'} ${joinList(open)} ${open.length === 1 ? 'listens' : 'listen'} on every address`,
          },
          {
            evidence: ['The agent cannot see a firewall in front of it.'],
            advice: ['Bind it to 127.0.0.1, or check that a firewall blocks it.'],
            subject: 'security',
          },
        ),
      ]
}
