import type { Check } from '../finding.ts'
import { list } from '../words.ts'
import { finding } from './make.ts'

const STATES = [
  { state: 'missing', name: 'ChainKeyFileMissing', severity: 'critical', are: 'not there' },
  {
    state: 'invalid',
    name: 'ChainKeyFileInvalid',
    severity: 'critical',
    are: 'there and of no use',
  },
  { state: 'exposed', name: 'ChainKeyFileExposed', severity: 'warning', are: 'readable by others' },
] as const

const ADVICE = {
  missing:
    'Without it the node cannot be moved. `sudo chain-agent keys backup` writes a backup anew, `sudo chain-agent keys restore` a keystore: see docs/keys.md.',
  invalid:
    'An empty or broken file looks like a backup and is none. `sudo chain-agent keys backup` writes a backup anew, `sudo chain-agent keys restore` a keystore: see docs/keys.md.',
  exposed:
    'Take the rights of others away: `chmod 600 FILE`; if others could read it, the key is no longer yours alone.',
} as const

/** The files of which the node's identity depends. */
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
            { severity, says: `${list(files)} ${files.length === 1 ? 'is' : 'are'} ${are}` },
            { advice: [ADVICE[state]], subject: 'security' },
          ),
        ]
  })

/** Ports that should answer on this host alone. */
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
            says: `${open.length === 1 ? 'port' : 'ports'} ${list(open)} ${open.length === 1 ? 'listens' : 'listen'} on every address`,
          },
          {
            evidence: ['A firewall before it is not seen from here.'],
            advice: ['Let it listen on 127.0.0.1, or see that a firewall closes it.'],
            subject: 'security',
          },
        ),
      ]
}
