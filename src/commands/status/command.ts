import { Option } from 'commander'
import { defineConfigured } from '../../terminal/configured-command.ts'
import { readWatchSeconds } from '../../terminal/watch.ts'

/** `chain-agent status`: the current status of the node. */
export const statusCommand = defineConfigured({
  json: 'as JSON; all sections, unless a section is given',
  options: (command) =>
    command
      .argument('[section]', 'a section, a service such as bft, or all; default: an overview')
      .addOption(
        new Option('--watch [seconds]', 'refresh every N seconds (default 2)').argParser(readWatchSeconds).preset('2'),
      ),
  help: `Sections:
  header       host name, date, uptime of consensus, version
  config       network, chain, public keys, own address and its record
  services     the node's units, and its clean-up timer
  chain        own height next to the references, pace, blocksync window
  consensus    status, mode, epoch, round, heights; the last minute of its log
  statesync    whether it is active, its progress and its estimated end
  peers        peers from the status report and from the metrics of consensus
  rpc          whether it answers, heights by block tag, version, network
  execution    newest executed block, memory, database, from its log
  storage      devices, chunk lists, history, latest blocks, auto-expire
  staking      epoch, stake, commission, unclaimed rewards, rank and margin
  duties       turns as leader in six hours: led, missed, expected; stake, votes
  versions     installed and running versions, pending restart, forks
  host         kernel, memory, clock, ports, disk space, drives
  keys         keystores, password and backups: present, intact, private
  maintenance  the maintenance window, and its end
  restart      whether the node can be restarted now, and when next
  watched      another node, by its heartbeats; \`watched.name\`
  alerts       who is notified: each Alertmanager, its last alert; the heartbeat
  agent        version, prefix, status of each collector
  arguments    what the units of the three services start, without secrets
  all          every section but arguments
  bft, rpc ... one service in detail, also as chain-bft

The first line is the state; the second is the recovery, if the node needs any.
Then follow the source of the data and its age. Values that could not be read
are shown as unknown, with the reason at the end of the section. If no agent is
running, --watch reads from the node at most once a minute, because that runs
the tools of the node.

\`arguments\` reads the unit files on this host. Values are shown of options that
are known to be harmless; of others there is (set). Words that are no known
option, and no value of one, may be secrets: only their number is shown. It runs
no program of the node: for all options run the program that it shows with
--help.

Exit codes: 0 the status was printed, 1 it could not be read, 2 usage error. The
exit code does not depend on the health of the node; \`chain-agent check\` reports
that.

Examples:
  chain-agent status
  chain-agent status storage
  chain-agent status bft
  chain-agent status consensus --watch
  chain-agent status arguments
  chain-agent status --json | jq .sections.consensus.blockDifference`,
  load: async () => (await import('./action.ts')).showStatus,
})
