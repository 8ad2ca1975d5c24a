import type { LogPattern } from './pattern.ts'

/** Peers and the network. */
export const network: readonly LogPattern[] = [
  {
    name: 'stream_ended',
    services: ['bft'],
    text: '(?:(?:Primary|Secondary) RaptorCast stream ended unexpectedly|RaptorCast secondary->primary .{0,20}?channel disconnected|RaptorCastSecondary channel disconnected|Could not send InboundRouterMessage to secondary)',
    severity: 'warning',
    meaning: 'A part of the network layer has ended: blocks are distributed only in part.',
    advice:
      'Check that its height increases: `chain-agent status chain`. If not, restart consensus and execution together.',
  },
  {
    name: 'egress_full',
    services: ['bft'],
    text: '(?:udp|tcp) egress channel full, dropping',
    severity: 'warning',
    meaning: 'Messages to peers are dropped: the network interface or a CPU is overloaded.',
    advice: 'Check the load of the host and the bandwidth.',
  },
  {
    name: 'udp_buffers',
    services: ['bft'],
    text: 'unable to set udp (?:receive|send) buffer size',
    severity: 'warning',
    meaning: 'The kernel limits the socket buffers below what consensus requests: messages of blocks are lost.',
    advice:
      "Set net.core.rmem_max and net.core.wmem_max as the node's documentation says, then restart consensus and execution together.",
  },
  {
    name: 'accept_failed',
    services: ['bft'],
    text: '(?:error accepting tcp connection|listener poll accept error)',
    severity: 'warning',
    meaning: 'A connection of a peer could not be accepted, usually because no file descriptors are left.',
    advice: 'Check the limit and the number of open files: `chain-agent status services`.',
  },
  {
    name: 'name_record_invalid',
    services: ['bft'],
    text: '(?:error: )?(?:self name record signature mismatch|invalid name record signature in config file)',
    severity: 'warning',
    meaning: 'The signature of an address record in the configuration does not match: peers ignore it.',
    advice: "If it is the record of this node, sign it again with the node's key and a higher number.",
  },
  {
    name: 'address_unresolved',
    services: ['bft'],
    text: '(?:error: )?(?:Unable to resolve|No IPv4 DNS record|config loader: cannot resolve bootstrap peer)',
    severity: 'warning',
    meaning: 'A host name in the configuration of consensus cannot be resolved.',
    advice:
      'Check the name and the DNS of this host. With its own name unresolved, the node is not reachable for peers.',
  },
]
