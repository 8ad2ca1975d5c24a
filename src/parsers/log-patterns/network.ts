import type { LogPatternRow } from './pattern.ts'

/** Peers and the network. */
export const network: readonly LogPatternRow[] = [
  {
    name: 'stream_ended',
    text: '(?:(?:Primary|Secondary) RaptorCast stream ended unexpectedly|RaptorCast secondary->primary .{0,20}?channel disconnected|RaptorCastSecondary channel disconnected|Could not send InboundRouterMessage to secondary)',
    meaning: 'A part of the network layer has ended: blocks are distributed only in part.',
    advice:
      'Check that its height increases: `chain-agent status chain`. If not, restart consensus and execution together.',
  },
  {
    name: 'egress_full',
    text: '(?:udp|tcp) egress channel full, dropping',
    meaning: 'Messages to peers are dropped: the network interface or a CPU is overloaded.',
    advice: 'Check the load of the host and the bandwidth.',
  },
  {
    name: 'udp_buffers',
    text: 'unable to set udp (?:receive|send) buffer size',
    isBare: true,
    meaning: 'Consensus did not start: the kernel limits the socket buffers below what it requests.',
    advice:
      'Set net.core.rmem_max and net.core.wmem_max to at least the size in the line, then start consensus and execution together.',
  },
  {
    name: 'accept_failed',
    text: 'error accepting tcp connection',
    meaning: 'A connection of a peer could not be accepted, usually because no file descriptors are left.',
    advice: 'Check the limit and the number of open files: `chain-agent status services`.',
  },
  {
    name: 'local_accept_failed',
    text: 'listener poll accept error',
    meaning:
      'A connection of a program on this host, usually the RPC, could not be accepted, usually because no file descriptors are left.',
    advice: 'Check the limit and the number of open files: `chain-agent status services`.',
  },
  {
    name: 'control_panel_failed',
    text: 'not yet implemented: ipc listener error',
    isBare: true,
    meaning:
      'Consensus ended, because its control socket could not accept a connection: usually no file descriptors are left.',
    advice:
      'Check the limit of open files of the unit and what opens them, then start consensus and execution together.',
  },
  {
    name: 'name_record_invalid',
    text: 'self name record signature mismatch',
    isBare: true,
    meaning:
      "Consensus did not start: the signature of this node's own address record in node.toml does not match its key, address, ports and number.",
    advice:
      "Sign the record again with the node's key and a higher `self_record_seq_num`, set it in node.toml, then start consensus and execution together.",
  },
  {
    name: 'peer_name_record_invalid',
    text: 'invalid name record signature(?: in config file|, dropping record)',
    severity: 'info',
    meaning: 'The signature of the address record of a peer does not match: the record is ignored.',
    advice: 'No action needed. If it is in the configuration, get the current record of that bootstrap peer.',
  },
  {
    name: 'self_address_unresolved',
    text: 'Unable to resolve self address',
    isBare: true,
    meaning: "Consensus did not start: the host name in this node's own `self_address` cannot be resolved.",
    advice:
      'Check the name in node.toml and the DNS of this host, or use the IPv4 address, then start consensus and execution together.',
  },
  {
    name: 'address_unresolved',
    text: '(?:Unable to resolve(?! self address)|No IPv4 DNS record|config loader: cannot resolve bootstrap peer)',
    meaning:
      'The host name of a bootstrap peer in the configuration of consensus cannot be resolved: the peer is left out.',
    advice: 'Check the name and the DNS of this host. Other bootstrap peers are used.',
  },
  {
    name: 'group_message_dropped',
    text: 'No validators found for current epoch',
    severity: 'info',
    meaning:
      'A group message of full nodes arrived before the network layer had the validator set of its epoch, and was dropped.',
    advice: 'No action needed.',
  },
]
